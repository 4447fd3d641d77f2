"""A COSI driver in Python. Its backend is an SQLite file, its one argument: a bucket is a row, and so is an account."""
import os, re, secrets, signal, socket, sqlite3, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import grpc
from grpc import StatusCode
import cosi_pb2 as cosi, cosi_pb2_grpc as services

ID, LABEL = "[a-zA-Z0-9/._-]{1,2048}", "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
NAME = rf"(?=.{{1,253}}$){LABEL}(\.{LABEL})*"

def demand(holds, text, code=StatusCode.INVALID_ARGUMENT):
    if not holds:
        raise ValueError(code, text[:1000])

def valid(text, pattern):
    demand(re.fullmatch(pattern, text), f"a name or id is not of the form {pattern}")
    return text

def supported(request, protocols):
    demand(not request.parameters, "unknown parameters: " + ", ".join(request.parameters))
    demand(all(p.type == cosi.ObjectProtocol.S3 for p in protocols), "the only protocol that is supported is S3")
    demand(len(protocols) < 2, "protocol S3 is asked for twice")

def s3(id):
    style = cosi.S3AddressingStyle(style=cosi.S3AddressingStyle.PATH)
    info = cosi.S3BucketInfo(bucket_id=id, endpoint="https://s3.example.com", region="nowhere", addressing_style=style)
    return cosi.ObjectProtocolAndBucketInfo(s3=info)

def packed(request):
    return request.SerializeToString(deterministic=True)

def rpc(call):
    """A call has the backend for itself (COSI-GEN-4) and does all or nothing; a failure has a text (COSI-ERR-1)."""
    def answer(self, request, context):
        try:
            end = dict(context.invocation_metadata()).get("cosi-not-after-ns", "")
            with self.turn, self.backend:
                late = end.isdecimal() and time.clock_gettime_ns(time.CLOCK_BOOTTIME) > int(end)
                demand(not late, "the call came too late: make a new one", StatusCode.FAILED_PRECONDITION)
                return call(self, request)
        except ValueError as refused:
            context.abort(*refused.args)
        except sqlite3.Error as error:
            context.abort(StatusCode.INTERNAL, f"the database failed: {error}")
    return answer

class Driver(services.IdentityServicer, services.ProvisionerServicer):
    def __init__(self, file):
        self.turn, self.backend = threading.Lock(), sqlite3.connect(file, check_same_thread=False)
        for kind in "bucket", "account":
            self.row(f"CREATE TABLE IF NOT EXISTS {kind} (name PRIMARY KEY, undo, request, id, secret)")

    def row(self, statement, *values):
        return self.backend.execute(statement, values).fetchone()

    def make(self, kind, name, request, undo):
        """Finds what this very request made, or makes it. An undo is its request without the access modes."""
        undo = undo.FromString(packed(request))
        undo.DiscardUnknownFields()
        new = valid(name, NAME), packed(undo), packed(request), f"{kind}-{secrets.token_hex(8)}", secrets.token_hex(30)
        self.row(f"INSERT OR IGNORE INTO {kind} VALUES (?, ?, ?, ?, ?)", *new)
        *made, id, secret = self.row(f"SELECT * FROM {kind} WHERE name = ?", name)
        demand(tuple(made) == new[:3], f"{name} was made for another request", StatusCode.ALREADY_EXISTS)
        return id, secret

    def delete(self, answer, kind, where, *values):
        self.row(f"DELETE FROM {kind} WHERE {where}", *values)
        return answer()

    @rpc
    def DriverGetInfo(self, _):
        return cosi.DriverGetInfoResponse(name="python.example.com", supported_protocols=[{"type": "S3"}])

    @rpc
    def DriverCreateBucket(self, request):
        supported(request, request.protocols)
        id, _ = self.make("bucket", request.name, request, cosi.DriverDeleteBucketByNameRequest)
        return cosi.DriverCreateBucketResponse(bucket_id=id, protocols=s3(id))

    @rpc
    def DriverGetExistingBucket(self, request):
        supported(request, request.protocols)
        id = valid(request.existing_bucket_id, ID)
        demand(self.row("SELECT * FROM bucket WHERE id = ?", id), f"there is no bucket {id}", StatusCode.NOT_FOUND)
        return cosi.DriverGetExistingBucketResponse(bucket_id=id, protocols=s3(id))

    @rpc
    def DriverDeleteBucket(self, request):
        return self.delete(cosi.DriverDeleteBucketResponse, "bucket", "id = ?", valid(request.bucket_id, ID))

    @rpc
    def DriverDeleteBucketByName(self, request):
        made = valid(request.name, NAME), packed(request)
        return self.delete(cosi.DriverDeleteBucketByNameResponse, "bucket", "name = ? AND undo = ?", *made)

    @rpc
    def DriverGrantBucketAccess(self, request):
        supported(request, [request.protocol])
        key, ids = cosi.AuthenticationType.KEY, {valid(bucket.bucket_id, ID) for bucket in request.buckets}
        demand(request.authentication_type.type == key, "only authentication by KEY is supported")
        demand(ids and len(ids) == len(request.buckets), "there must be at least one bucket, and none twice")
        demand(all(b.access_mode.mode in (1, 2, 3) for b in request.buckets), "each bucket needs a known access mode")
        id, secret = self.make("account", request.account_name, request, cosi.DriverRevokeBucketAccessByNameRequest)
        keys = cosi.CredentialInfo(s3={"access_key_id": secret[:20], "access_secret_key": secret[20:]})
        buckets = [{"bucket_id": bucket, "bucket_info": s3(bucket)} for bucket in ids]
        return cosi.DriverGrantBucketAccessResponse(account_id=id, buckets=buckets, credentials=keys)

    @rpc
    def DriverRevokeBucketAccess(self, request):
        return self.delete(cosi.DriverRevokeBucketAccessResponse, "account", "id = ?", valid(request.account_id, ID))

    @rpc
    def DriverRevokeBucketAccessByName(self, request):
        made = valid(request.account_name, NAME), packed(request)
        return self.delete(cosi.DriverRevokeBucketAccessByNameResponse, "account", "name = ? AND undo = ?", *made)

if __name__ == "__main__":
    endpoint = os.environ.get("COSI_ENDPOINT", "unix:///var/lib/cosi/cosi.sock")
    if socket.socket(socket.AF_UNIX).connect_ex(endpoint.removeprefix("unix://")) == 0:
        sys.exit(f"another driver listens at {endpoint}")
    os.umask(0o117)
    server = grpc.server(ThreadPoolExecutor(16))
    services.add_IdentityServicer_to_server(driver := Driver(sys.argv[1]), server)
    services.add_ProvisionerServicer_to_server(driver, server)
    server.add_insecure_port(endpoint)
    server.start()
    signal.signal(signal.SIGTERM, lambda *_: server.stop(10))
    server.wait_for_termination()
