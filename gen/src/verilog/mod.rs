//! Verilog back end over RustHDL's tree.
//!
//! RustHDL's own printer writes expressions flat and every literal 32 bits wide, so its Verilog
//! and its simulation can disagree. This back end walks the same tree with a [`Probe`] of its
//! own, infers every expression's width from the signals in it, and prints what the Rust means:
//!
//! * explicit parentheses and widths, a literal takes the width of its peer;
//! * a cast is a zero-extension or a part-select;
//! * what Verilog cannot slice becomes a named wire;
//! * registers are plain `always @(posedge clk)` code in the module that owns them;
//! * equal modules are written once; a module's name and header come from its
//!   [`ModuleId`](rondo_hdl::prim::ModuleId).
//!
//! The stages, one file each: [`tree`] (probe), [`lower`] (names, loops, registers),
//! [`liveness`] (drop what nothing reads), [`express`] (expressions), [`print`] (modules),
//! [`memory`] (RAM and ROM modules).
//!
//! [`Probe`]: rust_hdl::core::prelude::Probe

pub mod express;
pub mod ir;
pub mod liveness;
pub mod lower;
pub mod memory;
pub mod print;
pub mod reserved;
pub mod tree;

use rust_hdl::core::prelude::Block;
use std::collections::BTreeMap;

/// Why a design cannot be printed. All of these are faults of the RustHDL source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerilogError {
    /// A block without a [`ModuleId`](rondo_hdl::prim::ModuleId).
    #[error("block `{block}` has no module name; give it a `ModuleId` field")]
    Unnamed {
        /// Field name of the block in its parent.
        block: String,
    },
    /// A construct of RustHDL that the back end does not print.
    #[error("module `{module}`: {what} is not supported")]
    Unsupported {
        /// Module in which it was met.
        module: String,
        /// The construct.
        what: String,
    },
    /// A name that is neither a signal, a loop variable nor an enum label.
    #[error("module `{module}`: no signal, loop variable or enum label is called `{name}`")]
    UnknownName {
        /// Module in which it was met.
        module: String,
        /// The name as RustHDL's tree gives it.
        name: String,
    },
    /// Operands of different widths, or a value that does not fit its target.
    #[error("module `{module}`: {what}")]
    Width {
        /// Module in which it was met.
        module: String,
        /// Both sides.
        what: String,
    },
    /// A signal not assigned on every path through the block.
    #[error(
        "module `{module}`: `{signal}` is not assigned on every path; give it a default first"
    )]
    Latch {
        /// Module in which it was met.
        module: String,
        /// The signal.
        signal: String,
    },
    /// A signal read between two of its assignments: simulation and hardware would differ.
    #[error("module `{module}`: `{signal}` is read before its last assignment")]
    ReadBeforeWrite {
        /// Module in which it was met.
        module: String,
        /// The signal.
        signal: String,
    },
    /// Two different signals or modules would get one Verilog name.
    #[error("`{name}` would name two different things in {place}")]
    NameClash {
        /// The Verilog name.
        name: String,
        /// Where.
        place: String,
    },
}

/// Direction of a module port, seen from inside the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Driven from outside.
    Input,
    /// Driven by the module.
    Output,
}

/// A port of a printed module.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Port {
    /// Verilog name.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Width in bits.
    pub bits: usize,
}

/// A memory somewhere in the design, once an instance.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Memory {
    /// Hierarchical instance name below the top.
    pub name: String,
    /// Size in bits.
    pub bits: usize,
}

/// One Verilog module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Module name; the file is `<name>.v`.
    pub name: String,
    /// Complete text of the module.
    pub text: String,
    /// Ports in declaration order.
    pub ports: Vec<Port>,
}

/// A printed design: every module once, children before parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// Name of the top module.
    pub top: String,
    /// Modules, children before parents.
    pub modules: Vec<Module>,
    /// Memories, by instance.
    pub memories: Vec<Memory>,
}

impl Design {
    /// The module called `name`.
    pub fn module(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|m| m.name == name)
    }

    /// The whole design as one file.
    pub fn text(&self) -> String {
        self.modules
            .iter()
            .map(|m| m.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Prints `block` and everything below it as Verilog-2001.
///
/// # Errors
/// [`VerilogError`] names the module and the signal whose RustHDL cannot be printed.
pub fn print_design(block: &dyn Block) -> Result<Design, VerilogError> {
    let root = tree::collect(block);
    let mut printer = DesignPrinter::default();
    let (top, memories) = printer.visit(&root)?;
    Ok(Design {
        top,
        modules: printer.modules,
        memories,
    })
}

#[derive(Default)]
struct DesignPrinter {
    modules: Vec<Module>,
    index: BTreeMap<String, usize>,
}

impl DesignPrinter {
    fn add(&mut self, module: Module) -> Result<(), VerilogError> {
        match self.index.get(&module.name) {
            Some(&i) if self.modules[i].text == module.text => Ok(()),
            Some(_) => Err(VerilogError::NameClash {
                name: module.name,
                place: "the design".into(),
            }),
            None => {
                self.index.insert(module.name.clone(), self.modules.len());
                self.modules.push(module);
                Ok(())
            }
        }
    }

    /// Prints `node`'s children, then `node`; returns its module name and the memories below it.
    fn visit(&mut self, node: &tree::Node) -> Result<(String, Vec<Memory>), VerilogError> {
        let mut memories = Vec::new();
        let mut child_modules = BTreeMap::new();
        for child in &node.children {
            match &child.kind {
                tree::NodeKind::Register { .. } => {}
                tree::NodeKind::Ram { .. } => {
                    self.add(memory::ram_module())?;
                    memories.push(Memory {
                        name: child.field.clone(),
                        bits: memory::bits_of(child),
                    });
                }
                tree::NodeKind::Rom { name, words } => {
                    self.add(memory::rom_module(child, name, words))?;
                    memories.push(Memory {
                        name: child.field.clone(),
                        bits: memory::bits_of(child),
                    });
                }
                tree::NodeKind::Block => {
                    let (name, inner) = self.visit(child)?;
                    memories.extend(inner.into_iter().map(|m| Memory {
                        name: format!("{}.{}", child.field, m.name),
                        bits: m.bits,
                    }));
                    child_modules.insert(child.field.clone(), name);
                }
            }
        }
        let lowered = lower::lower(node, &child_modules)?;
        let lowered = liveness::prune(lowered)?;
        let module = print::print(&lowered)?;
        let name = module.name.clone();
        self.add(module)?;
        Ok((name, memories))
    }
}
