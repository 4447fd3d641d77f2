package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// settings are the flags of `devcluster apiserver`.
type settings struct {
	dir       string
	port      int
	tokenFile string
	ephemeral bool
	// passed is handed to kube-apiserver as it is.
	passed []string
}

func parseSettings(args []string) (settings, error) {
	var s settings
	flags := newFlags("apiserver")
	flags.StringVar(&s.dir, "dir", "", "folder for data, logs and kubeconfigs (required)")
	flags.IntVar(&s.port, "port", 0, "port on 127.0.0.1 (0: any free one)")
	flags.StringVar(&s.tokenFile, "token-file", "", "more users, in the format of kube-apiserver's --token-auth-file")
	flags.BoolVar(&s.ephemeral, "ephemeral", false, "remove --dir at the end")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.dir == "" {
		return s, fmt.Errorf("--dir is required")
	}
	s.passed = flags.Args()
	var err error
	s.dir, err = filepath.Abs(s.dir)
	return s, err
}

// runAPIServer serves until it is released, and says READY once requests are answered.
func runAPIServer(args []string) error {
	released := untilReleased()
	s, err := parseSettings(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- serve(s) }()
	select {
	case err := <-failed:
		return err
	case <-released:
		// After a failure the folder stays: the log in it says why.
		if s.ephemeral {
			removeAll(s.dir)
		}
		return nil
	}
}

// removeAll tries again when the servers, which are still running, put a file into a folder just emptied.
func removeAll(dir string) {
	for range 10 {
		if os.RemoveAll(dir) == nil {
			return
		}
	}
}

// serve runs etcd and kube-apiserver; it returns only to report a failure.
func serve(s settings) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		return err
	}
	etcd, err := startEtcd(s.dir)
	if err != nil {
		return err
	}
	users := newTokens()
	flags, err := serverFlags(s, etcd, users)
	if err != nil {
		return err
	}
	ctx := context.Background()
	completed, err := complete(ctx, listener, flags)
	if err != nil {
		return err
	}
	go announce(s, "https://"+listener.Addr().String(), users)
	return app.Run(ctx, completed)
}

// serverFlags writes the files that kube-apiserver needs and returns its command line.
func serverFlags(s settings, etcd string, users tokens) ([]string, error) {
	tokenFile := filepath.Join(s.dir, "tokens.csv")
	if err := writeTokenFile(tokenFile, users, s.tokenFile); err != nil {
		return nil, err
	}
	key := filepath.Join(s.dir, "sa.key")
	if err := writeServiceAccountKey(key); err != nil {
		return nil, err
	}
	flags := []string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--cert-dir=" + s.dir,
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--service-account-issuer=https://devcluster.invalid",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		"--token-auth-file=" + tokenFile,
		// There is no controller here that makes service accounts.
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
		"--profiling=false",
	}
	return append(flags, s.passed...), nil
}

// complete does what kube-apiserver's own command does between its command line and its start, save that the
// listener is ours: a port is never looked for first and taken by somebody else before it is bound.
func complete(ctx context.Context, listener net.Listener, flags []string) (options.CompletedOptions, error) {
	var none options.CompletedOptions
	o := options.NewServerRunOptions()
	sets := o.Flags()
	o.Flagz = flagz.NamedFlagSetsReader{FlagSets: sets}
	globalflag.AddGlobalFlags(sets.FlagSet("global"), "kube-apiserver", logs.SkipLoggingConfigurationFlags())
	all := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(flags); err != nil {
		return none, err
	}
	o.SecureServing.Listener = listener
	o.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return none, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := o.Complete(ctx)
	if err != nil {
		return none, err
	}
	return completed, utilerrors.NewAggregate(completed.Validate())
}
