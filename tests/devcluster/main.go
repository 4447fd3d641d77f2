// Command devcluster runs a real kube-apiserver with its own etcd in one process, for tests.
//
//	devcluster apiserver --dir DIR [--port N] [--token-file FILE] [--ephemeral] [-- KUBE-APISERVER-FLAGS...]
//	devcluster controller-manager --kubeconfig FILE [-- KUBE-CONTROLLER-MANAGER-FLAGS...]
//
// Both end as soon as their stdin reaches EOF: whoever starts them holds the other end of a pipe, so that they
// cannot outlive a test that was killed. They need no orderly shutdown, because nothing they store is meant to last.
package main

import (
	"flag"
	"fmt"
	"os"
)

const usage = "usage: devcluster apiserver|controller-manager [flags] [-- flags passed through]"

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("no subcommand; %s", usage))
	}
	var err error
	switch name, args := os.Args[1], os.Args[2:]; name {
	case "apiserver":
		err = runAPIServer(args)
	case "controller-manager":
		err = runControllerManager(args)
	default:
		err = fmt.Errorf("unknown subcommand %q; %s", name, usage)
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "devcluster:", err)
	os.Exit(1)
}

// newFlags makes a flag set that reports its errors instead of ending the process.
func newFlags(name string) *flag.FlagSet {
	return flag.NewFlagSet("devcluster "+name, flag.ContinueOnError)
}
