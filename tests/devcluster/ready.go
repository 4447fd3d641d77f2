package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// announce waits until the server is ready, then writes the kubeconfigs and prints the line that the starter
// waits for. It runs beside the server, whose failure ends the process with its own message.
func announce(s settings, server string, users tokens) {
	ca, err := waitReady(server, filepath.Join(s.dir, "apiserver.crt"), users.admin)
	if err != nil {
		fail(err)
	}
	admin := filepath.Join(s.dir, "kubeconfig")
	limited := filepath.Join(s.dir, "limited.kubeconfig")
	if err := writeKubeconfig(limited, server, ca, "limited", users.limited); err != nil {
		fail(err)
	}
	if err := writeKubeconfig(admin, server, ca, "admin", users.admin); err != nil {
		fail(err)
	}
	fmt.Fprintln(os.Stdout, "READY", admin)
}

// waitReady polls /readyz and returns the certificate that clients must trust.
func waitReady(server, caFile, token string) ([]byte, error) {
	last := fmt.Errorf("never asked")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var ca []byte
		if ca, last = os.ReadFile(caFile); last != nil {
			continue
		}
		if last = askReady(server, ca, token); last == nil {
			return ca, nil
		}
	}
	return nil, fmt.Errorf("kube-apiserver was not ready within a minute: %w", last)
}

func askReady(server string, ca []byte, token string) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequest(http.MethodGet, server+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	client := http.Client{Transport: transport, Timeout: 5 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz answered %s", response.Status)
	}
	return nil
}
