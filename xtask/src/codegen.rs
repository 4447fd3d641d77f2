//! `cargo xtask codegen`: the wire types and the descriptor set of `proto/`, made from `cosi.proto`.
//!
//! The results are committed, so that a consumer of `cosi-proto` needs neither protoc nor a build script.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use prost::Message as _;
use protox::Compiler;
use protox::prost_reflect::DescriptorPool;

const PROTO: &str = "cosi.proto";
/// Its folder below `proto/`, named as its package, as other generators and their linters want it.
const FOLDER: &str = "sigs/k8s/io/cosi/v1alpha2";
const PACKAGE: &str = "sigs.k8s.io.cosi.v1alpha2";
const DESCRIPTOR_SET: &str = "cosi.binpb";

/// Writes the generated files, or with `check` fails if what is committed differs from what would be written.
///
/// # Errors
/// If the proto file does not compile, a file cannot be read or written, or (with `check`) one is not current.
pub fn codegen(check: bool) -> Result<()> {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto");
    let target = proto.join("src/generated");
    for (name, content) in generate(&proto.join(FOLDER))? {
        let path = target.join(&name);
        if fs::read(&path).is_ok_and(|old| old == content) {
            continue;
        }
        if check {
            bail!(
                "proto/src/generated/{name} is not what proto/{FOLDER}/{PROTO} makes; run `cargo xtask codegen`"
            );
        }
        fs::create_dir_all(&target).with_context(|| format!("create {}", target.display()))?;
        fs::write(&path, content).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn generate(protos: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    // Encoded by protox itself: going through the prost types loses the options that we define (cosi_secret).
    let descriptors = compile(protos, false)?.encode_file_descriptor_set();
    let source = rust_source(&compile(protos, true)?.file_descriptor_set(), &debug_by_hand(&descriptors)?)?;
    Ok(vec![(format!("{PACKAGE}.rs"), source), (DESCRIPTOR_SET.to_owned(), descriptors)])
}

fn compile(protos: &Path, comments: bool) -> Result<Compiler> {
    let mut compiler = Compiler::new([protos])?;
    compiler.include_source_info(comments).include_imports(true).open_file(PROTO)?;
    Ok(compiler)
}

/// Messages that must not print themselves: those with a secret field or with parameters.
fn debug_by_hand(descriptors: &[u8]) -> Result<Vec<String>> {
    let pool = DescriptorPool::decode(descriptors)?;
    let secret =
        pool.get_extension_by_name(&format!("{PACKAGE}.cosi_secret")).context("no option cosi_secret")?;
    let own = pool.all_messages().filter(|m| m.package_name() == PACKAGE && !m.is_map_entry());
    let hidden = own.filter(|m| m.fields().any(|f| f.is_map() || f.options().has_extension(&secret)));
    Ok(hidden.map(|m| format!(".{}", m.full_name())).collect())
}

fn rust_source(
    files: &protox::prost_reflect::prost_types::FileDescriptorSet,
    hidden: &[String],
) -> Result<Vec<u8>> {
    // The compiler's and the generator's descriptor types are one type only as long as they agree on prost's version.
    let files = tonic_prost_build::FileDescriptorSet::decode(files.encode_to_vec().as_slice())?;
    let out = Scratch::new()?;
    tonic_prost_build::configure()
        .btree_map(".")
        .skip_debug(hidden)
        .emit_rerun_if_changed(false)
        .out_dir(&out.0)
        .compile_fds(files)
        .context("generate the wire types")?;
    let made = out.0.join(format!("{PACKAGE}.rs"));
    fs::read(&made).with_context(|| format!("read {}", made.display()))
}

/// A folder of this process, removed with its content at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("cosi-codegen-{}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("create {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left-overs in the temporary folder do no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_wire_types_are_what_the_proto_file_makes() {
        codegen(true).unwrap();
    }
}
