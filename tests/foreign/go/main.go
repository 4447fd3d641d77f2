// A COSI driver in Go, without the two RPCs by name, as drivers for other sidecars are. Its backend is two maps in memory:
// what it made is gone when it ends.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"log"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"cosi.example/driver/cosi"
)

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
var idForm = regexp.MustCompile(`^[a-zA-Z0-9/._-]+$`)

// Buckets or accounts: by name, which is the id, too, the request that made each, and its keys.
type things map[string]struct{ request, id, secret string }

type driver struct {
	cosi.UnimplementedIdentityServer
	cosi.UnimplementedProvisionerServer
	buckets, accounts things
}

func demand(holds bool, code codes.Code, text string) error {
	if holds {
		return nil
	}
	return status.Error(code, text[:min(len(text), 1000)])
}

// A name or an id has to look like this (COSI-GEN-9, COSI-GEN-10).
func form(text string, most int, pattern *regexp.Regexp) error {
	return demand(len(text) <= most && pattern.MatchString(text), codes.InvalidArgument, "a name or id must match "+pattern.String())
}

func supported(parameters map[string]string, protocols ...*cosi.ObjectProtocol) error {
	for parameter := range parameters {
		return demand(false, codes.InvalidArgument, "unknown parameter "+parameter)
	}
	return demand(len(protocols) == 0 || len(protocols) == 1 && protocols[0].GetType() == cosi.ObjectProtocol_S3,
		codes.InvalidArgument, "of the protocols only S3 is supported, and is to be named once")
}

// Finds what this very request made, or makes it.
func (t things) provide(name string, request proto.Message) error {
	made, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if _, found := t[name]; !found {
		t[name] = struct{ request, id, secret string }{string(made), rand.Text(), rand.Text()}
	}
	return cmp.Or(err, demand(t[name].request == string(made), codes.AlreadyExists, name+" was made for another request"))
}

func s3(id string) *cosi.ObjectProtocolAndBucketInfo {
	return &cosi.ObjectProtocolAndBucketInfo{S3: &cosi.S3BucketInfo{BucketId: id, Endpoint: "https://s3.example.com", Region: "nowhere",
		AddressingStyle: &cosi.S3AddressingStyle{Style: cosi.S3AddressingStyle_PATH}}}
}

func (d *driver) DriverGetInfo(context.Context, *cosi.DriverGetInfoRequest) (*cosi.DriverGetInfoResponse, error) {
	return &cosi.DriverGetInfoResponse{Name: "go.example.com", SupportedProtocols: []*cosi.ObjectProtocol{{Type: cosi.ObjectProtocol_S3}}}, nil
}

func (d *driver) DriverCreateBucket(_ context.Context, r *cosi.DriverCreateBucketRequest) (*cosi.DriverCreateBucketResponse, error) {
	if err := cmp.Or(form(r.Name, 253, nameForm), supported(r.Parameters, r.Protocols...)); err != nil {
		return nil, err
	}
	return &cosi.DriverCreateBucketResponse{BucketId: r.Name, Protocols: s3(r.Name)}, d.buckets.provide(r.Name, r)
}

func (d *driver) DriverGetExistingBucket(_ context.Context, r *cosi.DriverGetExistingBucketRequest) (*cosi.DriverGetExistingBucketResponse, error) {
	_, found := d.buckets[r.ExistingBucketId]
	there := demand(found, codes.NotFound, "there is no such bucket")
	err := cmp.Or(form(r.ExistingBucketId, 2048, idForm), supported(r.Parameters, r.Protocols...), there)
	return &cosi.DriverGetExistingBucketResponse{BucketId: r.ExistingBucketId, Protocols: s3(r.ExistingBucketId)}, err
}

func (d *driver) DriverDeleteBucket(_ context.Context, r *cosi.DriverDeleteBucketRequest) (*cosi.DriverDeleteBucketResponse, error) {
	delete(d.buckets, r.BucketId)
	return &cosi.DriverDeleteBucketResponse{}, form(r.BucketId, 2048, idForm)
}

func (d *driver) DriverGrantBucketAccess(_ context.Context, r *cosi.DriverGrantBucketAccessRequest) (*cosi.DriverGrantBucketAccessResponse, error) {
	key := r.AuthenticationType.GetType() == cosi.AuthenticationType_KEY
	err := cmp.Or(form(r.AccountName, 253, nameForm), supported(r.Parameters, r.Protocol),
		demand(key && len(r.Buckets) > 0, codes.InvalidArgument, "needed are authentication by KEY and at least one bucket"))
	answer, seen := &cosi.DriverGrantBucketAccessResponse{AccountId: r.AccountName}, map[string]bool{}
	for _, b := range r.Buckets {
		known := b.AccessMode.GetMode() >= cosi.AccessMode_READ_WRITE && b.AccessMode.GetMode() <= cosi.AccessMode_WRITE_ONLY
		err = cmp.Or(err, form(b.BucketId, 2048, idForm),
			demand(known && !seen[b.BucketId], codes.InvalidArgument, "each bucket needs a known access mode, and may come once"))
		seen[b.BucketId] = true
		answer.Buckets = append(answer.Buckets, &cosi.DriverGrantBucketAccessResponse_BucketInfo{BucketId: b.BucketId, BucketInfo: s3(b.BucketId)})
	}
	if err == nil {
		err = d.accounts.provide(r.AccountName, r)
	}
	answer.Credentials = &cosi.CredentialInfo{S3: &cosi.S3CredentialInfo{AccessKeyId: d.accounts[r.AccountName].id, AccessSecretKey: d.accounts[r.AccountName].secret}}
	return answer, err
}

func (d *driver) DriverRevokeBucketAccess(_ context.Context, r *cosi.DriverRevokeBucketAccessRequest) (*cosi.DriverRevokeBucketAccessResponse, error) {
	delete(d.accounts, r.AccountId)
	return &cosi.DriverRevokeBucketAccessResponse{}, form(r.AccountId, 2048, idForm)
}

func main() {
	path := strings.TrimPrefix(os.Getenv("COSI_ENDPOINT"), "unix://")
	if _, err := net.Dial("unix", path); err != nil {
		os.Remove(path) // the socket of a dead process (COSI-GEN-2)
	}
	syscall.Umask(0o117)
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	var turn sync.Mutex // one call at a time (COSI-GEN-4)
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, call grpc.UnaryHandler) (any, error) {
		turn.Lock()
		defer turn.Unlock()
		return call(ctx, r)
	}))
	d := &driver{buckets: things{}, accounts: things{}}
	cosi.RegisterIdentityServer(server, d)
	cosi.RegisterProvisionerServer(server, d)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	log.Fatal(server.Serve(listener))
}
