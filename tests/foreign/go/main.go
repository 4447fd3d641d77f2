// A COSI driver in Go, without the two RPCs by name, as drivers for other sidecars are. Its backend is two maps in memory:
// what it made is gone when it ends.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log"
	"net"
	"os"
	"regexp"
	"slices"
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

// What names and ids look like (COSI-GEN-9, COSI-GEN-10).
var nameForm, idForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`), regexp.MustCompile(`^[a-zA-Z0-9/._-]+$`)

// Buckets or accounts by name, which is the id, too: the request that made each, and its key pair.
type things map[string]thing
type thing struct{ request, key, secret string }

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

func form(text string, most int, of *regexp.Regexp) error {
	return demand(len(text) <= most && of.MatchString(text), codes.InvalidArgument, "it must match "+of.String())
}

func supported(parameters map[string]string, protocols ...*cosi.ObjectProtocol) error {
	for parameter := range parameters {
		return demand(false, codes.InvalidArgument, "unknown parameter "+parameter)
	}
	s3 := len(protocols) == 0 || len(protocols) == 1 && protocols[0].GetType() == cosi.ObjectProtocol_S3
	return demand(s3, codes.InvalidArgument, "of the protocols only S3 is supported, and is to be named once")
}

// Finds what this very request made, or makes it, unless the request is wrong.
func (t things) provide(name string, request proto.Message, wrong error) (thing, error) {
	made, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if _, found := t[name]; !found && cmp.Or(wrong, err) == nil {
		t[name] = thing{string(made), rand.Text(), rand.Text()}
	}
	taken := demand(t[name].request == string(made), codes.AlreadyExists, name+" was made for another request")
	return t[name], cmp.Or(wrong, err, taken)
}

func s3(id string) *cosi.ObjectProtocolAndBucketInfo {
	path := &cosi.S3AddressingStyle{Style: cosi.S3AddressingStyle_PATH}
	return &cosi.ObjectProtocolAndBucketInfo{S3: &cosi.S3BucketInfo{BucketId: id, Endpoint: "https://s3.example.com", Region: "nowhere", AddressingStyle: path}}
}

func (d *driver) DriverGetInfo(context.Context, *cosi.DriverGetInfoRequest) (*cosi.DriverGetInfoResponse, error) {
	return &cosi.DriverGetInfoResponse{Name: "go.example.com", SupportedProtocols: []*cosi.ObjectProtocol{{Type: cosi.ObjectProtocol_S3}}}, nil
}

func (d *driver) DriverCreateBucket(_ context.Context, r *cosi.DriverCreateBucketRequest) (*cosi.DriverCreateBucketResponse, error) {
	_, err := d.buckets.provide(r.Name, r, cmp.Or(form(r.Name, 253, nameForm), supported(r.Parameters, r.Protocols...)))
	return &cosi.DriverCreateBucketResponse{BucketId: r.Name, Protocols: s3(r.Name)}, err
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
	// In another order it is the same request.
	slices.SortFunc(r.Buckets, func(a, b *cosi.DriverGrantBucketAccessRequest_AccessedBucket) int {
		return cmp.Compare(a.BucketId, b.BucketId)
	})
	key := len(r.Buckets) > 0 && r.AuthenticationType.GetType() == cosi.AuthenticationType_KEY
	wrong := cmp.Or(form(r.AccountName, 253, nameForm), supported(r.Parameters, r.Protocol), demand(key, codes.InvalidArgument, "KEY and a bucket are needed"))
	answer := &cosi.DriverGrantBucketAccessResponse{AccountId: r.AccountName}
	for i, b := range r.Buckets {
		good := b.AccessMode.GetMode() > 0 && b.AccessMode.GetMode() < 4 && (i == 0 || r.Buckets[i-1].BucketId != b.BucketId)
		wrong = cmp.Or(wrong, form(b.BucketId, 2048, idForm), demand(good, codes.InvalidArgument, "a bucket comes once, with a known access mode"))
		answer.Buckets = append(answer.Buckets, &cosi.DriverGrantBucketAccessResponse_BucketInfo{BucketId: b.BucketId, BucketInfo: s3(b.BucketId)})
	}
	made, err := d.accounts.provide(r.AccountName, r, wrong)
	answer.Credentials = &cosi.CredentialInfo{S3: &cosi.S3CredentialInfo{AccessKeyId: made.key, AccessSecretKey: made.secret}}
	return answer, err
}

func (d *driver) DriverRevokeBucketAccess(_ context.Context, r *cosi.DriverRevokeBucketAccessRequest) (*cosi.DriverRevokeBucketAccessResponse, error) {
	delete(d.accounts, r.AccountId)
	return &cosi.DriverRevokeBucketAccessResponse{}, form(r.AccountId, 2048, idForm)
}

func main() {
	path := strings.TrimPrefix(cmp.Or(os.Getenv("COSI_ENDPOINT"), "unix:///var/lib/cosi/cosi.sock"), "unix://")
	if _, err := net.Dial("unix", path); errors.Is(err, syscall.ECONNREFUSED) {
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
		if ctx.Err() != nil { // nobody waits for it any more
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		return call(ctx, r)
	}))
	d := &driver{buckets: things{}, accounts: things{}}
	cosi.RegisterIdentityServer(server, d)
	cosi.RegisterProvisionerServer(server, d)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	log.Fatal(server.Serve(listener))
}
