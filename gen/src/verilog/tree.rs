//! Walks a RustHDL design and collects its blocks, signals and kernels.

use rondo_hdl::prim::{
    IndexNames, ModuleId, RAM_MARKER, REGISTER_MARKER, ROM_MARKER, SYNCHRONISER_MARKER,
};
use rust_hdl::core::prelude::{Atom, AtomKind, Block, Probe, TypeKind, Verilog};

/// A signal or constant of a block.
#[derive(Debug, Clone)]
pub struct AtomInfo {
    /// Name within the block, Verilog form.
    pub name: String,
    /// Width in bits.
    pub bits: usize,
    /// What RustHDL says it is.
    pub kind: AtomKind,
    /// Present value, as RustHDL prints it (`8'h1f`): the value of a constant.
    pub value: String,
    /// Type name and labels of an enum.
    pub labels: Option<(String, Vec<String>)>,
    /// Whether the type is signed.
    pub signed: bool,
}

/// What a node of the tree is.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// A block with its own kernel.
    Block,
    /// [`rondo_hdl::prim::Reg`], or [`rondo_hdl::prim::SyncReg`].
    Register {
        /// It takes a signal from another clock domain.
        synchroniser: bool,
    },
    /// [`rondo_hdl::prim::Ram`].
    Ram {
        /// Words.
        depth: usize,
    },
    /// [`rondo_hdl::prim::Rom`].
    Rom {
        /// Module name.
        name: String,
        /// Words, hexadecimal.
        words: Vec<String>,
    },
}

/// A block of the design.
#[derive(Debug, Clone)]
pub struct Node {
    /// Name in the parent, Verilog form.
    pub field: String,
    /// What it is.
    pub kind: NodeKind,
    /// Module name and header comment.
    pub id: Option<(String, String)>,
    /// Names that indices may have, from [`rondo_hdl::prim::IndexNames`].
    pub indices: Vec<(String, usize)>,
    /// Signals and constants.
    pub atoms: Vec<AtomInfo>,
    /// Child blocks.
    pub children: Vec<Node>,
    /// Kernel.
    pub hdl: Verilog,
}

impl Node {
    /// Width of the atom called `name`.
    pub fn bits_of(&self, name: &str) -> usize {
        self.atoms
            .iter()
            .find(|a| a.name == name)
            .map_or(0, |a| a.bits)
    }
}

/// Collects `block` and everything below it.
pub fn collect(block: &dyn Block) -> Node {
    let mut c = Collector::default();
    block.accept("top", &mut c);
    // A block always opens and closes its own scope, so one finished node is left.
    c.finished.unwrap_or(Node {
        field: "top".into(),
        kind: NodeKind::Block,
        id: None,
        indices: vec![],
        atoms: vec![],
        children: vec![],
        hdl: Verilog::Empty,
    })
}

#[derive(Default)]
struct Collector {
    open: Vec<Node>,
    namespaces: Vec<String>,
    finished: Option<Node>,
}

/// RustHDL joins names by `$` and `.`; Verilog gets `_`.
pub fn verilog_name(name: &str) -> String {
    name.replace(['$', '.'], "_")
}

fn kind_of(hdl: &Verilog) -> NodeKind {
    let Verilog::Custom(text) = hdl else {
        return NodeKind::Block;
    };
    if text.starts_with(REGISTER_MARKER) {
        NodeKind::Register {
            synchroniser: false,
        }
    } else if text.starts_with(SYNCHRONISER_MARKER) {
        NodeKind::Register { synchroniser: true }
    } else if let Some(depth) = text.strip_prefix(RAM_MARKER) {
        NodeKind::Ram {
            depth: depth.parse().unwrap_or(0),
        }
    } else if let Some((name, words)) = text
        .strip_prefix(ROM_MARKER)
        .and_then(|rest| rest.split_once(' '))
    {
        NodeKind::Rom {
            name: name.into(),
            words: words.split(',').map(str::to_owned).collect(),
        }
    } else {
        NodeKind::Block
    }
}

impl Probe for Collector {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let hdl = node.hdl();
        self.open.push(Node {
            field: verilog_name(name),
            kind: kind_of(&hdl),
            id: None,
            indices: vec![],
            atoms: vec![],
            children: vec![],
            hdl,
        });
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        if let Some(rest) = name.strip_prefix(ModuleId::MARKER) {
            let (name, doc) = rest.split_once('\n').unwrap_or((rest, ""));
            if let Some(open) = self.open.last_mut() {
                open.id = Some((name.into(), doc.into()));
            }
        }
        if let (Some(list), Some(open)) =
            (name.strip_prefix(IndexNames::MARKER), self.open.last_mut())
        {
            let pairs = list.split(',').filter_map(|p| p.split_once('='));
            open.indices
                .extend(pairs.filter_map(|(n, i)| Some((n.to_owned(), i.parse().ok()?))));
        }
        self.namespaces.push(name.into());
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let descriptor = signal.descriptor();
        let mut full: Vec<&str> = self.namespaces.iter().map(String::as_str).collect();
        full.push(name);
        let info = AtomInfo {
            name: verilog_name(&full.join("_")),
            bits: signal.bits(),
            kind: signal.kind(),
            value: format!("{:x}", signal.verilog()),
            labels: match &descriptor.kind {
                TypeKind::Enum(labels) => Some((descriptor.name.clone(), labels.clone())),
                _ => None,
            },
            signed: matches!(descriptor.kind, TypeKind::Signed(_)),
        };
        if let Some(open) = self.open.last_mut() {
            open.atoms.push(info);
        }
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespaces.pop();
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        if let Some(done) = self.open.pop() {
            match self.open.last_mut() {
                Some(parent) => parent.children.push(done),
                None => self.finished = Some(done),
            }
        }
    }
}
