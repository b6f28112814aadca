use super::*;

const CHAIN: &str = "\
Nodes 4
Connections 3
Triggers 2

# a chain, then a barrier
0->1 id 1 start 16000000.0 size 2000000 send_done_trigger 1
1->2 id 2 trigger 1 size 5 recv_done_trigger 2 prio 3
2->3 id 3 trigger 2 size 6
trigger id 1 oneshot
trigger id 2 barrier count 1
";

fn error(text: &str) -> String {
    let error = ConnectionMatrix::parse("m.cm", text).unwrap_err();
    error.to_string()
}

/// Replaces one piece of the good file and returns the error.
fn broken(from: &str, to: &str) -> String {
    assert!(CHAIN.contains(from));
    error(&CHAIN.replacen(from, to, 1))
}

#[test]
fn a_chain_is_read() {
    let matrix = ConnectionMatrix::parse("m.cm", CHAIN).unwrap();
    assert_eq!(matrix.nodes, 4);
    let flows = &matrix.workload.flows;
    assert_eq!(flows[0].start, Start::At(16_000_000));
    assert_eq!((flows[0].src, flows[0].dst), (0, 1));
    assert_eq!((flows[0].bytes, flows[0].done), (2_000_000, Some(0)));
    assert_eq!((flows[1].start, flows[1].done), (Start::On(0, 0), Some(1)));
    assert_eq!(flows[2].start, Start::On(1, 0));
    assert_eq!(matrix.workload.triggers.len(), 2);
}

#[test]
fn a_file_without_ids_or_triggers_is_read() {
    let text = "Nodes 2\nConnections 2\n0->1 start 0 size 10\n1->0 start 0 size 10\n";
    let matrix = ConnectionMatrix::parse("m.cm", text).unwrap();
    assert_eq!(matrix.workload.flows.len(), 2);
}

#[test]
fn multishot_starts_one_flow_a_completion() {
    let text = "Nodes 4\nConnections 4\nTriggers 1\n\
        0->1 id 1 start 0 size 1 send_done_trigger 7\n0->2 id 2 start 0 size 1 send_done_trigger 7\n\
        0->3 id 3 trigger 7 size 1\n1->3 id 4 trigger 7 size 1\ntrigger id 7 multishot\n";
    let matrix = ConnectionMatrix::parse("m.cm", text).unwrap();
    let workload = &matrix.workload;
    assert_eq!(workload.flows[2].start, Start::On(0, 0));
    assert_eq!(workload.flows[3].start, Start::On(1, 0));
    assert_eq!(workload.triggers[0].count, 1);
    assert_eq!(workload.triggers[1].count, 2);
    for flow in &workload.flows[..2] {
        let hub = &workload.triggers[flow.done.unwrap() as usize];
        let targets: Vec<u32> = hub.then.iter().map(|next| next.trigger).collect();
        assert_eq!((hub.count, targets), (1, vec![0, 1]));
    }
    let fewer = text.replacen(" send_done_trigger 7", "", 1);
    assert!(error(&fewer).starts_with("m.cm:8: connection matrix: trigger 7 gets 1 completions"));
}

#[test]
fn one_flow_may_fire_two_triggers() {
    let text = CHAIN.replace("recv_done_trigger 2", "").replacen(
        "trigger 1\n",
        "trigger 1 recv_done_trigger 2\n",
        1,
    );
    let workload = ConnectionMatrix::parse("m.cm", &text).unwrap().workload;
    let hub = &workload.triggers[workload.flows[0].done.unwrap() as usize];
    assert_eq!(hub.then.len(), 2);
}

#[test]
fn bad_headers_and_counts_are_named() {
    assert!(broken("Nodes 4", "Nodes").starts_with("m.cm:1: connection matrix: \"Nodes\" lacks"));
    assert!(broken("Nodes 4", "# none").starts_with("m.cm:6:"));
    assert!(error("").contains("lacks the Nodes line"));
    assert!(error("Nodes 3\n").starts_with("m.cm:1: connection matrix: lacks the Connections"));
    let message = broken("Connections 3", "Connections 4");
    assert!(message.starts_with("m.cm:10:"), "{message}");
    assert!(message.contains("Connections says 4 but the file has 3"));
    assert!(broken("Triggers 2", "Triggers 1").contains("Triggers says 1 but the file has 2"));
    assert!(broken("Triggers 2", "Trigger 2").contains("unknown keyword \"Trigger\""));
    assert!(broken("Triggers 2", "Triggers 2 2").contains("left over"));
    assert!(broken("Connections 3", "Connections -3").contains("no whole number"));
    assert!(broken("Nodes 4", "Nodes 4\nFailures 1").starts_with("m.cm:2: connection matrix: fail"));
    let line = "failure switch_type TOR switch_id 1 link_id 1";
    assert!(broken("# a chain, then a barrier", line).contains("failures are not read"));
    assert!(ConnectionMatrix::parse("m", &CHAIN.replace("\n\n", "\nFailures 0\n")).is_ok());
}

#[test]
fn bad_connections_are_named() {
    let message = broken("2->3", "2->4");
    assert!(
        message.starts_with("m.cm:8: connection matrix: node 4 does not exist"),
        "{message}"
    );
    assert!(broken("2->3", "2->2").contains("to itself"));
    assert!(broken("2->3", "2->").contains("no node number"));
    assert!(broken(" size 6", "").contains("lacks a size"));
    assert!(broken("size 6", "size 0").contains("lacks a size"));
    assert!(broken("size 6", "size -6").contains("no whole number"));
    assert!(broken("size 6", "bytes 6").contains("unknown keyword \"bytes\""));
    assert!(broken("size 6", "msg 1 size 6").contains("not modelled"));
    assert!(broken("start 16000000.0", "start x").contains("no time"));
    assert!(broken("start 16000000.0", "start -1").contains("no time"));
    assert!(broken("start 16000000.0 ", "").contains("says not when"));
    assert!(broken("trigger 2 size 6", "trigger 2 start 0 size 6").contains("keep one"));
    assert!(broken("id 3", "id 2").contains("used already"));
    assert!(broken("prio 3", "prio").contains("lacks its number"));
}

#[test]
fn bad_triggers_are_named() {
    assert!(broken("trigger id 1 oneshot", "trigger id 1").contains("without a type"));
    assert!(broken("trigger id 1 oneshot", "trigger id 1 oneshot barrier").contains("repeated"));
    assert!(broken("trigger id 1 oneshot", "trigger oneshot").contains("without an id"));
    assert!(broken("trigger id 1 oneshot", "trigger id 2 oneshot").contains("defined twice"));
    assert!(broken("trigger 1 size", "trigger 9 size")
        .starts_with("m.cm:7: connection matrix: trigger 9"));
    assert!(broken("barrier count 1", "barrier").contains("without a count"));
    let message = broken("barrier count 1", "barrier count 2");
    assert!(
        message.starts_with("m.cm:10: connection matrix: trigger 2 gets 1"),
        "{message}"
    );
    let cycle = broken("start 16000000.0", "trigger 2");
    assert!(cycle.contains("break the cycle"), "{cycle}");
}
