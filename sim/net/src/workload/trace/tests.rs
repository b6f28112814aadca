use super::*;

const HEAD: &str = "id,kind,comm_elements,comm_group_or_peer,num_ops,tensor_elems,deps,name\n";

fn trace(rows: &str, rank: u32) -> Result<RankTrace, WorkloadError> {
    RankTrace::parse("t.csv", &format!("# made up\n{HEAD}{rows}"), rank)
}

fn error(rows: &str) -> String {
    trace(rows, 0).unwrap_err().to_string()
}

/// Runs the workload with `1000` ps a flow; when each flow starts, or nothing if it never does.
fn starts(workload: &Workload) -> Vec<Option<u64>> {
    let mut got = vec![0; workload.triggers.len()];
    let mut waiting = vec![Vec::new(); workload.triggers.len()];
    let mut starts = vec![None; workload.flows.len()];
    // Completions due: time and trigger, smallest first.
    let mut due = std::collections::BTreeSet::new();
    for (i, flow) in workload.flows.iter().enumerate() {
        match flow.start {
            Start::On(trigger, delay) => waiting[trigger as usize].push((i, delay)),
            Start::At(_) => panic!("a replay has no fixed times"),
        }
    }
    let mut serial = 0;
    let mut fired: Vec<(u64, usize)> = Vec::new();
    let roots = workload.triggers.iter().enumerate();
    fired.extend(roots.filter(|(_, t)| t.count == 0).map(|(i, _)| (0, i)));
    loop {
        for (now, trigger) in std::mem::take(&mut fired) {
            for &(i, delay) in &waiting[trigger] {
                starts[i] = Some(now + delay);
                serial += 1;
                due.insert((now + delay + 1000, serial, workload.flows[i].done.unwrap()));
            }
            for next in &workload.triggers[trigger].then {
                serial += 1;
                due.insert((now + next.delay, serial, next.trigger));
            }
        }
        let Some((now, _, trigger)) = due.pop_first() else {
            return starts;
        };
        let trigger = trigger as usize;
        got[trigger] += 1;
        assert!(got[trigger] <= workload.triggers[trigger].count);
        if got[trigger] == workload.triggers[trigger].count {
            fired.push((now, trigger));
        }
    }
}

fn pair_groups() -> ProcessGroups {
    ProcessGroups::parse(
        "g.json",
        r#"{"1": [0, 1], "2": [2, 3], "5": [0], "6": [1]}"#,
    )
    .unwrap()
}

#[test]
fn computation_delays_what_depends_on_it() {
    let rows = "1,COMP_NODE,,,2000,,,a\n2,ALL_REDUCE,8,1,,,1,b\n3,COMP_NODE,,,500,,2,c\n\
                4,ALL_GATHER,8,1,,,3 1,d\n5,ALL_TO_ALL,8,5,,,4,alone\n6,REDUCE_SCATTER,4,1,,,5,e\n";
    let trace = trace(rows, 0).unwrap();
    let stage = Stage {
        trace: &trace,
        ranks: &[0, 1],
    };
    let options = ReplayOptions {
        flops_per_second: Some(1e12),
        ..ReplayOptions::default()
    };
    let workload = replay(&[stage], &pair_groups(), &[7, 9], &options).unwrap();
    assert_eq!(workload.validate(10), Ok(()));
    // All-reduce: two steps of 8 bytes each way; all-gather: one of 16; reduce-scatter: one of 4.
    let of_first: Vec<_> = workload.flows.iter().zip(starts(&workload)).collect();
    let of_first: Vec<_> = of_first
        .iter()
        .filter(|(flow, _)| flow.src == 7)
        .map(|(flow, start)| (flow.bytes, start.unwrap()))
        .collect();
    assert_eq!(of_first, [(8, 2000), (8, 3000), (16, 4500), (4, 5500)]);
}

#[test]
fn messages_find_their_receive_and_shift_with_the_rank() {
    let first = "1,COMM_SEND_NODE,10,2,,,,mb0.y_SEND\n2,ALL_GATHER,1,1,,,1,g\n";
    let second = "8,COMM_RECV_NODE,10,0,,,,shadow_mb0.y_RECV\n9,ALL_GATHER,3,2,,,8,h\n";
    let (first, second) = (trace(first, 0).unwrap(), trace(second, 2).unwrap());
    let stages = [
        Stage {
            trace: &first,
            ranks: &[0, 1],
        },
        Stage {
            trace: &second,
            ranks: &[2, 3],
        },
    ];
    let options = ReplayOptions::default();
    let workload = replay(&stages, &pair_groups(), &[0, 1, 2, 3], &options).unwrap();
    assert_eq!(workload.validate(4), Ok(()));
    let sends: Vec<_> = workload.flows.iter().filter(|f| f.bytes == 20).collect();
    assert_eq!((sends[0].src, sends[0].dst), (0, 2));
    assert_eq!((sends[1].src, sends[1].dst), (1, 3));
    let times = starts(&workload);
    for (flow, time) in workload.flows.iter().zip(times) {
        let expected = if flow.bytes == 6 { 1000 } else { 0 };
        assert_eq!(time, Some(expected), "{flow:?}");
    }
    // Alone, each stage runs without the other.
    for (stage, hosts) in stages.iter().zip([[0, 1], [2, 3]]) {
        let part = replay(&[*stage], &pair_groups(), &hosts, &options).unwrap();
        assert_eq!((part.flows.len(), part.validate(4)), (2, Ok(())));
    }
    let other = trace("8,COMM_RECV_NODE,10,0,,,,mb1.y_RECV\n", 2).unwrap();
    let stages = [
        stages[0],
        Stage {
            trace: &other,
            ..stages[1]
        },
    ];
    let message = replay(&stages, &pair_groups(), &[0, 1, 2, 3], &options);
    let message = message.unwrap_err().to_string();
    assert!(
        message.contains("t.csv:3: trace: rank 2 has no receive"),
        "{message}"
    );
}

#[test]
fn a_late_rank_keeps_its_own_order() {
    // Rank 1 can gather at once, rank 0 only after its pair partner 2 has been heard: what rank 1 sends
    // early must not let rank 0 go on.
    let groups = ProcessGroups::parse("g", r#"{"1": [0, 1, 2]}"#).unwrap();
    let rows = "1,ALL_REDUCE,3,1,,,,a\n2,ALL_GATHER,3,1,,,1,b\n";
    let trace = trace(rows, 0).unwrap();
    let stage = Stage {
        trace: &trace,
        ranks: &[0, 1, 2],
    };
    let mut workload = replay(&[stage], &groups, &[0, 1, 2], &ReplayOptions::default()).unwrap();
    // Delay rank 0's first begin by a prerequisite.
    let late = workload.triggers.iter().position(|t| t.count == 0).unwrap();
    workload.triggers[late].count = 1;
    let root = workload.add_trigger(Trigger::after(0)).unwrap();
    pass_on(&mut workload, root, late as u32, 50_000);
    for (flow, time) in workload.flows.iter().zip(starts(&workload)) {
        assert!(
            flow.src != 0 || time.unwrap() >= 50_000,
            "{flow:?} {time:?}"
        );
    }
}

#[test]
fn bad_rows_are_named() {
    assert!(error("").starts_with("t.csv:2: trace: has no nodes"));
    assert!(error("1,COMP_NODE,,,5,,,a\n2,COMP\n").starts_with("t.csv:4: trace: has 2 columns"));
    assert!(error("1,COMP_NODE,,,x,,,a\n").contains("number of operations"));
    assert!(error("1,BROADCAST,1,1,,,,a\n").contains("unknown kind \"BROADCAST\""));
    assert!(error("1,ALL_GATHER,0,1,,,,a\n").contains("0 elements"));
    assert!(error("1,ALL_GATHER,1,,,,,a\n").contains("process group"));
    assert!(error("1,COMM_SEND_NODE,1,-1,,,,a\n").contains("peer rank"));
    assert!(error("1,COMP_NODE,,,5,,7,a\n").contains("depends on node 7"));
    assert!(error("1,COMP_NODE,,,5,,,a\n1,COMP_NODE,,,5,,,a\n").contains("comes twice"));
    let cycle = error("1,COMP_NODE,,,5,,,a\n2,COMP_NODE,,,5,,3,a\n3,COMP_NODE,,,5,,2,a\n");
    assert!(cycle.starts_with("t.csv:4: trace: node 2 waits for itself"));
    let header = RankTrace::parse("t.csv", "id,kind\n", 0).unwrap_err();
    assert!(header.to_string().contains("first row must be"));
}

#[test]
fn bad_groups_and_arguments_are_named() {
    let groups = |text: &str| {
        ProcessGroups::parse("g.json", text)
            .unwrap_err()
            .to_string()
    };
    assert!(groups("{\"1\": [0,\n x]}").starts_with("g.json:2: trace: process groups"));
    assert!(groups("{\"1\": []}").contains("group 1 is empty"));
    assert!(groups("{\"1\": [2, 2]}").contains("twice"));
    let trace = trace("1,ALL_GATHER,8,1,,,,a\n", 0).unwrap();
    let run = |ranks: &[u32], hosts: &[u32], options: ReplayOptions| {
        let stage = Stage {
            trace: &trace,
            ranks,
        };
        let result = replay(&[stage], &pair_groups(), hosts, &options);
        result.unwrap_err().to_string()
    };
    let options = ReplayOptions::default();
    assert!(run(&[0], &[0], options).contains("outside the stage"));
    assert!(run(&[0, 1, 4], &[0, 1, 2], options).contains("rank 4 has no process group"));
    assert!(run(&[0, 1], &[0], options).contains("2 ranks but 1 hosts"));
    assert!(run(&[0, 1], &[3, 3], options).contains("host 3 comes twice"));
    assert!(run(&[1, 1], &[3, 4], options).contains("rank 1 comes twice"));
    let shrink = ReplayOptions {
        shrink: 0,
        ..options
    };
    assert!(run(&[0, 1], &[3, 4], shrink).contains("at least 1"));
    let flops_per_second = Some(0.0);
    let slow = ReplayOptions {
        flops_per_second,
        ..options
    };
    assert!(run(&[0, 1], &[3, 4], slow).contains("operations a second"));
}

fn shipped(stage: u32) -> RankTrace {
    let texts = [
        include_str!("../../../workloads/moe7b_stage_pp0_rank0.csv"),
        include_str!("../../../workloads/moe7b_stage_pp1_rank64.csv"),
        include_str!("../../../workloads/moe7b_stage_pp2_rank128.csv"),
        include_str!("../../../workloads/moe7b_stage_pp3_rank192.csv"),
    ];
    RankTrace::parse("moe", texts[stage as usize], 64 * stage).unwrap()
}

fn shipped_groups() -> ProcessGroups {
    let text = include_str!("../../../workloads/moe7b_stage_groups.json");
    ProcessGroups::parse("groups", text).unwrap()
}

#[test]
fn one_stage_of_the_shipped_trace_replays() {
    let trace = shipped(1);
    let ranks: Vec<u32> = (64..128).collect();
    let hosts: Vec<u32> = (0..64).collect();
    let stage = Stage {
        trace: &trace,
        ranks: &ranks,
    };
    let options = ReplayOptions::default();
    let workload = replay(&[stage], &shipped_groups(), &hosts, &options).unwrap();
    assert_eq!(workload.validate(64), Ok(()));
    // Rank 64's all-to-alls: 64 operations of 7 messages of one eighth of 16 MiB.
    let messages = workload
        .flows
        .iter()
        .filter(|f| f.src == 0 && f.bytes == 2 << 20);
    // The same size is passed on by the 32 expert all-gathers, 7 times each.
    assert_eq!(messages.count(), 64 * 7 + 32 * 7);
    assert!(starts(&workload).iter().all(Option::is_some));
}

#[test]
fn the_whole_shipped_trace_replays_with_one_micro_batch() {
    let mut traces: Vec<RankTrace> = (0..4).map(shipped).collect();
    let all = traces[0].nodes().len();
    traces
        .iter_mut()
        .for_each(|trace| trace.keep_micro_batches(1));
    assert!(traces[0].nodes().len() < all / 3);
    let ranks: Vec<u32> = (0..256).collect();
    let stages: Vec<Stage<'_>> = traces
        .iter()
        .zip(ranks.chunks(64))
        .map(|(trace, ranks)| Stage { trace, ranks })
        .collect();
    let options = ReplayOptions {
        shrink: 1024,
        flops_per_second: Some(1e15),
        ..ReplayOptions::default()
    };
    let workload = replay(&stages, &shipped_groups(), &ranks, &options).unwrap();
    assert_eq!(workload.validate(256), Ok(()));
    let times = starts(&workload);
    assert!(times.iter().all(Option::is_some));
    // Forward activations reach the last stage after the earlier ones have worked.
    let sends = |from: u32| {
        let flows = workload.flows.iter().zip(&times);
        flows
            .filter(|(f, _)| f.src == from && f.dst == from + 64)
            .map(|(_, time)| time.unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(sends(0).len(), 1);
    assert!(sends(0)[0] < sends(64)[0] && sends(64)[0] < sends(128)[0]);
}
