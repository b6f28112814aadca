//! Compiles a design with Verilator into a shared object, once.

use crate::{SimError, Verilog};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Oldest major version that works.
const OLDEST_MAJOR: u32 = 5;

/// Checks that Verilator is there and new enough; returns what it says of itself.
///
/// # Errors
/// [`SimError::MissingTool`] and [`SimError::OldVerilator`].
pub fn version() -> Result<String, SimError> {
    let out = Command::new("verilator")
        .arg("--version")
        .output()
        .map_err(|_| SimError::MissingTool {
            tool: "verilator".into(),
        })?;
    let text = String::from_utf8_lossy(&out.stdout);
    let line = text.lines().next().unwrap_or("").trim().to_owned();
    let major = line
        .split_whitespace()
        .nth(1)
        .and_then(|v| v.split('.').next())
        .and_then(|v| v.parse::<u32>().ok());
    match major {
        Some(m) if m >= OLDEST_MAJOR => Ok(line),
        _ => Err(SimError::OldVerilator { found: line }),
    }
}

fn verilator_include() -> Result<PathBuf, SimError> {
    let out = Command::new("verilator")
        .args(["--getenv", "VERILATOR_ROOT"])
        .output()
        .map_err(|_| SimError::MissingTool {
            tool: "verilator".into(),
        })?;
    let root = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    Ok(Path::new(&root).join("include"))
}

/// Where compiled models are kept: `$RONDO_CACHE`, or `rondo` in the user's cache folder.
pub fn cache_folder() -> PathBuf {
    let set = |v: &str| std::env::var_os(v).filter(|s| !s.is_empty());
    if let Some(folder) = set("RONDO_CACHE") {
        return folder.into();
    }
    if let Some(folder) = set("XDG_CACHE_HOME") {
        return Path::new(&folder).join("rondo");
    }
    match set("HOME") {
        Some(home) => Path::new(&home).join(".cache").join("rondo"),
        None => std::env::temp_dir().join("rondo-cache"),
    }
}

/// The C++ between a row of 64-bit words and the model's ports.
fn glue(v: &Verilog, trace: bool) -> String {
    let mut set = String::new();
    let mut get = String::new();
    let mut at = 0;
    for p in v.inputs() {
        if p.bits <= 64 {
            let _ = writeln!(set, "    m->{} = in[{at}];", p.name);
        } else {
            for w in 0..p.bits.div_ceil(32) {
                let _ = writeln!(
                    set,
                    "    m->{}[{w}] = (uint32_t)(in[{}] >> {});",
                    p.name,
                    at + w / 2,
                    32 * (w % 2)
                );
            }
        }
        at += p.words();
    }
    at = 0;
    for p in v.outputs() {
        if p.bits <= 64 {
            let _ = writeln!(get, "    out[{at}] = m->{};", p.name);
        } else {
            for w in (0..p.bits.div_ceil(32)).step_by(2) {
                let high = if w + 1 < p.bits.div_ceil(32) {
                    format!(" | (uint64_t)m->{}[{}] << 32", p.name, w + 1)
                } else {
                    String::new()
                };
                let _ = writeln!(
                    get,
                    "    out[{}] = (uint64_t)m->{}[{w}]{high};",
                    at + w / 2,
                    p.name
                );
            }
        }
        at += p.words();
    }
    let (trace_open, trace_include) = if trace {
        ("m->trace(t, 99);", "#include <verilated_vcd_c.h>")
    } else {
        ("(void)m; (void)t;", "class VerilatedVcdC;")
    };
    format!(
        "#include \"Vdut.h\"\n{trace_include}\n\
         extern \"C\" {{\n\
         Vdut* rondo_new(int seed) {{\n\
         \x20   VerilatedContext* c = new VerilatedContext;\n\
         \x20   c->traceEverOn({trace});\n    c->randReset(2);\n    c->randSeed(seed);\n\
         \x20   return new Vdut(c, \"dut\");\n}}\n\
         void rondo_delete(Vdut* m) {{\n\
         \x20   VerilatedContext* c = m->contextp();\n    m->final();\n    delete m;\n    delete c;\n}}\n\
         void rondo_trace(Vdut* m, VerilatedVcdC* t) {{ {trace_open} }}\n\
         // One clock: inputs settle, outputs are read, the edge follows.\n\
         void rondo_settle(Vdut* m, const uint64_t* in, uint64_t* out) {{\n    m->clk = 0;\n{set}    m->eval();\n{get}}}\n\
         void rondo_edge(Vdut* m) {{\n    m->clk = 1;\n    m->eval();\n}}\n\
         void rondo_step(Vdut* m, const uint64_t* in, uint64_t* out) {{\n\
         \x20   rondo_settle(m, in, out);\n    rondo_edge(m);\n}}\n}}\n"
    )
}

fn run(tool: &str, command: &mut Command) -> Result<(), SimError> {
    let out = command.output().map_err(|_| SimError::MissingTool {
        tool: tool.to_owned(),
    })?;
    if out.status.success() {
        return Ok(());
    }
    if out.status.code().is_none() {
        return Err(SimError::Stopped { tool: tool.into() });
    }
    Err(SimError::Tool {
        tool: tool.into(),
        output: String::from_utf8_lossy(&out.stderr).into_owned(),
    })
}

/// Compiles `v`, or finds it compiled; returns the shared object.
///
/// # Errors
/// [`SimError`] when a tool is missing or fails, or the cache cannot be written.
pub fn compile(v: &Verilog, trace: bool) -> Result<PathBuf, SimError> {
    let version = version()?;
    let glue = glue(v, trace);
    let mut hash = Sha256::new();
    hash.update(&version);
    hash.update(&glue);
    for (name, text) in &v.files {
        hash.update(name);
        hash.update(text);
    }
    let key: String = hash.finalize()[..12]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let cache = cache_folder();
    let file = |path: &Path, source| SimError::File {
        path: path.to_owned(),
        source,
    };
    let object = cache.join(format!("{}-{key}.so", v.top));
    if object.exists() {
        return Ok(object);
    }
    std::fs::create_dir_all(&cache).map_err(|e| file(&cache, e))?;
    // Built aside and renamed, so that an interrupted build leaves nothing in the cache.
    let work = tempfile::Builder::new()
        .prefix("build-")
        .tempdir_in(&cache)
        .map_err(|e| file(&cache, e))?;
    for (name, text) in v
        .files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .chain([("glue.cpp", glue.as_str())])
    {
        let path = work.path().join(name);
        std::fs::write(&path, text).map_err(|e| file(&path, e))?;
    }
    let mut verilator = Command::new("verilator");
    verilator
        .current_dir(work.path())
        .args(["--cc", "-O3", "--x-initial", "unique"])
        .args(["--x-assign", "fast", "--noassert", "--prefix", "Vdut"])
        .args(["--Mdir", "obj", "--top-module", &v.top])
        .arg(format!("{}.v", v.top));
    if trace {
        verilator.arg("--trace");
    }
    run("verilator", &mut verilator)?;
    let include = verilator_include()?;
    let obj = work.path().join("obj");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(&obj)
        .map_err(|e| file(&obj, e))?
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "cpp"))
        .collect();
    sources.sort();
    let built = work.path().join("model.so");
    let mut gxx = Command::new("g++");
    gxx.current_dir(work.path())
        .args([
            "-O2",
            "-shared",
            "-fPIC",
            "-std=c++17",
            "-faligned-new",
            "-w",
        ])
        .arg("-I")
        .arg(&include)
        .arg("-I")
        .arg(include.join("vltstd"))
        .args(["-I", "obj", "glue.cpp"])
        .args(&sources)
        .arg("-o")
        .arg(&built);
    run("g++", &mut gxx)?;
    std::fs::rename(&built, &object).map_err(|e| file(&object, e))?;
    Ok(object)
}
