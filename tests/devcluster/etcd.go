package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd starts an etcd that listens on UNIX sockets in dir only: no port to collide with, nothing for
// others to reach. It returns the URL of its client socket.
func startEtcd(dir string) (string, error) {
	client := url.URL{Scheme: "unix", Path: filepath.Join(dir, "etcd.sock")}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer.sock")}

	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.ListenClientUrls, cfg.ListenPeerUrls = []url.URL{client}, []url.URL{peer}
	// etcd insists on telling others a host and port, but nobody asks: our client gets the socket, and there is no
	// other member.
	nobody := []url.URL{{Scheme: "http", Host: "localhost:0"}}
	cfg.AdvertiseClientUrls, cfg.AdvertisePeerUrls = nobody, nobody
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.LogLevel = "error"
	// A config made by NewConfig, unlike one parsed from flags, has zero here: each request counts as slow and is
	// formatted for the log.
	cfg.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	// Only a crash of the whole machine could lose data by this, and no test survives that either.
	cfg.UnsafeNoFsync = true
	// The only member waits one election timeout before it leads: the default second is most of the start.
	cfg.TickMs, cfg.ElectionMs = 10, 100

	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return "", fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return client.String(), nil
	case err := <-server.Err():
		return "", fmt.Errorf("etcd ended while starting: %w", err)
	case <-time.After(30 * time.Second):
		return "", fmt.Errorf("etcd was not ready within 30 s")
	}
}
