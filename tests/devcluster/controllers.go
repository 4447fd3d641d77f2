package main

import (
	"fmt"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// runControllerManager runs the two controllers that tests need: owner references are collected, and deleted
// namespaces go away.
func runControllerManager(args []string) error {
	released := untilReleased()
	flags := newFlags("controller-manager")
	kubeconfig := flags.String("kubeconfig", "", "admin kubeconfig of the cluster (required)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kubeconfig == "" {
		return fmt.Errorf("--kubeconfig is required")
	}
	command := app.NewControllerManagerCommand()
	command.SetArgs(append([]string{
		"--kubeconfig=" + *kubeconfig,
		"--controllers=garbage-collector-controller,namespace-controller",
		"--leader-elect=false",
		"--secure-port=0",
	}, flags.Args()...))
	failed := make(chan error, 1)
	go func() { failed <- command.Execute() }()
	select {
	case err := <-failed:
		return err
	case <-released:
		return nil
	}
}
