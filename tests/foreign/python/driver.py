"""A COSI driver in Python. Its backend is an SQLite file, its one argument: a bucket is a row, and so is an account."""
import errno, json, os, re, signal, socket, sqlite3, sys
from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex
from time import CLOCK_BOOTTIME, clock_gettime_ns
import grpc
from google.protobuf import json_format
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
    demand([p.type for p in protocols] in ([], [cosi.ObjectProtocol.S3]), "only S3 is supported, and to be named once")

def s3(id):
    info = {"bucket_id": id, "endpoint": "https://s3.example.com", "region": "nowhere"}
    return cosi.ObjectProtocolAndBucketInfo(s3={**info, "addressing_style": {"style": "PATH"}})

def key(request, modes):
    """What makes one request another one. The order of buckets does not, and an undo does not know the access modes."""
    fields = json_format.MessageToDict(request)
    buckets = [(bucket.get("bucketId"), modes and bucket.get("accessMode")) for bucket in fields.pop("buckets", [])]
    return json.dumps([fields, sorted(buckets, key=repr)], sort_keys=True)

def rpc(call):
    """A call does all or nothing. What fails by itself, as the disk may, is UNKNOWN, with a text (COSI-ERR-1)."""
    def answer(self, request, context):
        try:
            end = dict(context.invocation_metadata()).get("cosi-not-after-ns", "9" * 19)
            demand(re.fullmatch("[0-9]{1,19}", end), "cosi-not-after-ns must be a decimal number")
            demand(clock_gettime_ns(CLOCK_BOOTTIME) <= int(end), "it came too late", StatusCode.FAILED_PRECONDITION)
            with self.sql:
                return call(self, request)
        except ValueError as refused:
            context.abort(*refused.args)
    return answer

class Driver(services.IdentityServicer, services.ProvisionerServicer):
    def __init__(self, file):
        self.sql = sqlite3.connect(file, check_same_thread=False)
        table = "CREATE TABLE IF NOT EXISTS things (kind, name, undo, request, id, secret, PRIMARY KEY (kind, name))"
        # The second process at one file does not start.
        self.sql.executescript(f"PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; {table}; COMMIT")

    def make(self, kind, name, request):
        """Finds what this very request made, or makes it: name, request and id in one step (COSI-CREATE-4)."""
        wanted = kind, valid(name, NAME), key(request, modes=False), key(request, modes=True)
        self.sql.execute("INSERT OR IGNORE INTO things VALUES (?,?,?,?,?,?)", (*wanted, token_hex(8), token_hex(30)))
        find = "SELECT * FROM things WHERE kind = ? AND name = ?"
        *made, id, secret = self.sql.execute(find, (kind, name)).fetchone()
        demand(tuple(made) == wanted, f"{name} was made for another request", StatusCode.ALREADY_EXISTS)
        return id, secret

    def delete(self, kind, id, answer):
        self.sql.execute("DELETE FROM things WHERE kind = ? AND id = ?", (kind, valid(id, ID)))
        return answer()

    def undo(self, kind, name, request, answer):
        made = kind, valid(name, NAME), key(request, modes=False)
        self.sql.execute("DELETE FROM things WHERE kind = ? AND name = ? AND undo = ?", made)
        return answer()

    @rpc
    def DriverGetInfo(self, _):
        return cosi.DriverGetInfoResponse(name="python.example.com", supported_protocols=[{"type": "S3"}])

    @rpc
    def DriverCreateBucket(self, request):
        supported(request, request.protocols)
        id, _ = self.make("bucket", request.name, request)
        return cosi.DriverCreateBucketResponse(bucket_id=id, protocols=s3(id))

    @rpc
    def DriverGetExistingBucket(self, request):
        supported(request, request.protocols)
        id = valid(request.existing_bucket_id, ID)
        found = self.sql.execute("SELECT * FROM things WHERE kind = 'bucket' AND id = ?", (id,)).fetchone()
        demand(found, f"there is no bucket {id}", StatusCode.NOT_FOUND)
        return cosi.DriverGetExistingBucketResponse(bucket_id=id, protocols=s3(id))

    @rpc
    def DriverDeleteBucket(self, request):
        return self.delete("bucket", request.bucket_id, cosi.DriverDeleteBucketResponse)

    @rpc
    def DriverDeleteBucketByName(self, request):
        return self.undo("bucket", request.name, request, cosi.DriverDeleteBucketByNameResponse)

    @rpc
    def DriverGrantBucketAccess(self, request):
        supported(request, [request.protocol])
        demand(request.authentication_type.type == 1, "only authentication by KEY is supported")
        ids = {valid(bucket.bucket_id, ID) for bucket in request.buckets}
        demand(ids and len(ids) == len(request.buckets), "there must be at least one bucket, and none twice")
        demand(all(b.access_mode.mode in (1, 2, 3) for b in request.buckets), "each bucket needs a known access mode")
        id, secret = self.make("account", request.account_name, request)
        keys = cosi.CredentialInfo(s3={"access_key_id": secret[:20], "access_secret_key": secret[20:]})
        buckets = [{"bucket_id": bucket, "bucket_info": s3(bucket)} for bucket in ids]
        return cosi.DriverGrantBucketAccessResponse(account_id=id, buckets=buckets, credentials=keys)

    @rpc
    def DriverRevokeBucketAccess(self, request):
        return self.delete("account", request.account_id, cosi.DriverRevokeBucketAccessResponse)

    @rpc
    def DriverRevokeBucketAccessByName(self, request):
        return self.undo("account", request.account_name, request, cosi.DriverRevokeBucketAccessByNameResponse)

if __name__ == "__main__":
    path = os.environ.get("COSI_ENDPOINT", "unix:///var/lib/cosi/cosi.sock").removeprefix("unix://")
    if socket.socket(socket.AF_UNIX).connect_ex(path) not in (errno.ENOENT, errno.ECONNREFUSED):
        sys.exit(f"what is at {path} is not the socket of a dead process")
    os.umask(0o177)
    driver = Driver(sys.argv[1])
    os.umask(0o117)
    # One call after the other, as they came (COSI-GEN-4): an undo must not overtake what it undoes (COSI-DELNAME-1).
    server = grpc.server(ThreadPoolExecutor(1))
    services.add_IdentityServicer_to_server(driver, server)
    services.add_ProvisionerServicer_to_server(driver, server)
    server.add_insecure_port(f"unix://{path}")
    server.start()
    signal.signal(signal.SIGTERM, lambda *_: server.stop(10))
    server.wait_for_termination()
