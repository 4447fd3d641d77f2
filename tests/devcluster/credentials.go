package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/keyutil"
)

// tokens are what clients of a cluster authenticate with.
type tokens struct {
	// admin may do everything.
	admin string
	// limited belongs to user "limited", who may do nothing until a test binds a role to that name.
	limited string
}

func newTokens() tokens {
	return tokens{admin: randomToken(), limited: randomToken()}
}

func randomToken() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails; the program would be ended instead
	return hex.EncodeToString(raw)
}

// writeTokenFile writes what --token-auth-file reads, the lines of the file extra (if named) included.
func writeTokenFile(path string, t tokens, extra string) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s,admin,admin,\"system:masters\"\n", t.admin)
	fmt.Fprintf(&out, "%s,limited,limited\n", t.limited)
	if extra != "" {
		lines, err := os.ReadFile(extra)
		if err != nil {
			return fmt.Errorf("reading --token-file: %w", err)
		}
		out.Write(lines)
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}

// writeServiceAccountKey writes the key that the server signs service account tokens with.
func writeServiceAccountKey(path string) error {
	pem, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("making the service account key: %w", err)
	}
	return keyutil.WriteKey(path, pem)
}

// writeKubeconfig puts a kubeconfig in place in one step, so that no reader sees half of it.
func writeKubeconfig(path, server string, ca []byte, user, token string) error {
	content := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: devcluster
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %s
  user:
    token: %s
contexts:
- name: devcluster
  context:
    cluster: devcluster
    user: %s
current-context: devcluster
`, server, base64.StdEncoding.EncodeToString(ca), user, token, user)
	draft := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := os.WriteFile(draft, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, path)
}
