"""Benchmarks, load generators, training logs, results of programs of one's own; look-alikes first."""

# ruff: noqa: E501 - lines stand as tools print them
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkpoint.extractors._shell import runs
from checkpoint.extractors.outputs import outputs
from tests.printing import figures, picked, told

NOTHING = [
    ("tail -2 /srv/logs/server.log", "Loading shards:  45% Completed | 29/64 [02:11<03:11,  4.45s/it]\n"),
    ("nvidia-smi --query-gpu=memory.used,utilization.gpu --format=csv,noheader", "70123 MiB, 45 %\n"),
    ("ps aux | grep worker", "root  12345  45.0  0.4 python3 -m shop.worker\n"),
    ("grep -rn timeout src", "src/net.py:12: timeout: 30 s\nsrc/net.py:40: latency: 12 ms\n"),
    ("sed -n 1,40p src/net.py", "rate: 12 req/s\nlatency: 5 ms\n"),
    ("cat notes.md", "throughput: 812 req/s\n"),
    ("curl -s https://blog.example/post", "throughput: 812 req/s\n"),
    ("pip install torch", "Downloading torch-2.9.1.whl (45.2 MB)\n45.2/45.2 MB 12.3 MB/s eta 0:00:00\n"),
    ("npm install", "added 120 packages in 3s\n"),
    ("make lint", "checked: 120 files in 3 s\n"),
    ("./serve.sh", "port: 8080\ntimeout: 30 s\nretry interval: 5 s\nversion: 1.2.3\n"),
    ("./bench.sh", "target: 100 tok/s\nexpected throughput: 90 tok/s\nmemory limit: 512 MB\n"),
    ("python plan.py", '{"tok_s": 94.0, "latency": "12 ms"}\n'),
    ("python -c 'import shop'", "2026-02-11 09:04:11 INFO rate: 12 req/s\n"),
    ("python run.py", "started 09:04:11\nline 12: 5 ms\nwrote out/a.json\n"),
    ("docker ps", "CONTAINER ID   IMAGE   STATUS\nabc123   shop    Up 3 hours\n"),
    ("kubectl logs deploy/shop", "pause: 812ms\n"),
    ("python crack.py", "INT (big endian) : 313351270192156492666605912980223837501529142\n"),
    ("time ls", "total 3\n"),
    ("bash setup.sh", "need 3 GB\nuptime: 123 s\ndisk: 45%\n"),
    ("python show_config.py", "lr: 0.0003\nbatch_size: 32\nwarmup_ratio: 0.03\n"),
    ("python report.py", "| name | value |\n|---|---|\n| a | 1 |\n| b | 2 |\n"),
    ("python env.py", "CPU count: 16\nRAM: 62 GB\nDisk free: 120 GB\nPython: 3.11.7\n"),
    ("bash deploy.sh", "Uploading 45.2 MB\nStarted in 3.2s\nHealth check ok after 4s\n"),
    ("python sim.py", "Step 100/1000 (10%)\nStep 200/1000 (20%)\n"),
    ("curl -s http://h/metrics", "request_time: 0.412s\n"),
    ("docker pull shop", "Digest: sha256:0f\nStatus: Downloaded newer image\n"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output"), NOTHING)
def test_nothing_was_measured(command: str, output: str):
    assert [f for f in told(command, output) if f.kind in ("measurement", "table")] == []


def test_a_failed_command_measures_nothing():
    assert told("./bench.sh", "throughput: 812 req/s\n", failed=True) == []


OWN = [
    ("python3 bench_one.py --port 9000 --runs 3", "run 1: 41.4 tok/s\nrun 2: 41.1 tok/s\nmean: 41.2 tok/s\naccept length: 1.7 / 5\n",
     [("bench_one.py", "mean", "41.2 tok/s", "--port 9000 --runs 3"),
      ("bench_one.py", "accept length", "1.7 / 5", "--port 9000 --runs 3")]),
    ("python3 bench_one.py", "run 1: 41.4 tok/s\nrun 2: 41.2 tok/s\n", [("bench_one.py", "mean", "41.3 tok/s", "")]),
    ("ssh ml@rig 'python sweep.py --width 1 2'", "width=1: 35.1 tok/s\nwidth=2: 44.0 tok/s\n",
     [("sweep.py", "width=1", "35.1 tok/s", "--width 1 2"), ("sweep.py", "width=2", "44.0 tok/s", "--width 1 2")]),
    ("./pack.sh gz", "gz: ratio 3.91, compress 212 MB/s\n",
     [("pack.sh", "gz ratio", "3.91", "gz"), ("pack.sh", "gz compress", "212 MB/s", "gz")]),
    ("python tok.py", "tokens/s: 4,412,000\n", [("tok.py", "tokens/s", "4,412,000 tokens/s", "")]),
    ("./import.sh", "loaded 31200000 rows in 4m12s\n",
     [("import.sh", "rows loaded", "31200000 rows", ""), ("import.sh", "rows loaded, time", "4m12s", "")]),
    ("python -c 'import m'", "params: 2.19B trainable, head frozen\n", [("python", "params", "2.19B trainable", "")]),
    ("make bench", "== batch 1 ==\nthroughput: 34.0 tok/s\n== batch 8 ==\nthroughput: 212.5 tok/s\n",
     [("make bench", "throughput", "34.0 tok/s", "batch 1"), ("make bench", "throughput", "212.5 tok/s", "batch 8")]),
    ("python eval.py --split test", "accuracy: 0.912\nlatency p99 (ms): 12.3\n",
     [("eval.py", "accuracy", "0.912", "--split test"), ("eval.py", "latency p99 (ms)", "12.3 ms", "--split test")]),
    ("./bin/hook stop", "[timing] parse: 1.45ms\n[timing] save: 37.7ms\n",
     [("hook", "parse", "1.45ms", "stop"), ("hook", "save", "37.7ms", "stop")]),
    ("./scan data", "  10.1MB 1m48.4s    0.1 MB/s hits=0 big.jsonl\n",
     [("scan", "big.jsonl (10.1MB) time", "1m48.4s, 0.1 MB/s", "data")]),
    ("tail -1 runs/serve.log", "decode throughput: 88.2 tok/s\n", [("serve.log", "decode throughput", "88.2 tok/s", "")]),
    ("python q.py", "perplexity: 6.21 -> 6.34\n", [("q.py", "perplexity", "6.34", "")]),
    ("cargo run --release --bin solver -- --n 9", "solved 1000 puzzles in 1.23s (813.0 puzzles/s)\n",
     [("solver", "puzzles solved", "1000 puzzles", "--n 9"), ("solver", "puzzles solved, time", "1.23s", "--n 9"),
      ("solver", "puzzles solved, rate", "813.0 puzzles/s", "--n 9")]),
    ("go run ./cmd/load -c 10", "RPS: 812.5\n", [("load", "RPS", "812.5 RPS", "-c 10")]),
    ("docker run --rm -v /a:/b shop-bench", "mean: 12.3 ms\n", [("shop-bench", "mean", "12.3 ms", "")]),
    ("python bench.py", "N=1000 time=0.123s rate=8130/s\n", [("bench.py", "N=1000 time", "0.123s", ""), ("bench.py", "N=1000 rate", "8130/s", "")]),
    ("python bench.py", "fp16    1234.5 GFLOPS   12.1 ms\n", [("bench.py", "fp16", "1234.5 GFLOPS, 12.1 ms", "")]),
    ("python bench.py", "peak RSS 1.2 GB\n", [("bench.py", "peak RSS", "1.2 GB", "")]),
    ("./bench", "== warmup ==\nqps: 100\n== run ==\nqps: 812\n", [("bench", "qps", "812 qps", "run")]),
    ("make perf", "[12:03:11] INFO throughput=812 req/s\n", [("make perf", "throughput", "812 req/s", "")]),
    ("./bench", "Throughput: 12.4k req/s (p99 8.1 ms)\n", [("bench", "Throughput", "12.4k req/s", ""), ("bench", "Throughput p99", "8.1 ms", "")]),
    ("python lauf.py", "Durchsatz: 38,2 MB/s\n", [("lauf.py", "Durchsatz", "38,2 MB/s", "")]),
]  # fmt: skip
TOOLS = [
    ("redis-benchmark -q -t get -P 8", "GET: 641327.00 requests per second, p50=0.879 msec\n",
     [("GET", "throughput", "641327.00 requests per second", "-q -t get -P 8"), ("GET", "p50", "0.879 msec", "-q -t get -P 8")]),
    ("time ./load.sh", "ready\n\nreal\t4m32.118s\nuser\t3m1.2s\nsys\t0m40.0s\n", [("./load.sh", "wall time", "4m32.118s", "")]),
    ("time make", "make  1.20s user 0.30s system 98% cpu 1.523 total\ntail -2  0.00s user 0.00s system 0% cpu 1.52 total\n",
     [("make", "wall time", "1.523 s", "")]),
    ("/usr/bin/time -v ./load.sh",
     '\tCommand being timed: "./load.sh"\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.50\n\tMaximum resident set size (kbytes): 2048\n',
     [("./load.sh", "wall time", "0:01.50", ""), ("./load.sh", "maximum memory", "2048 KB", "")]),
    ("hyperfine a", "Benchmark 1: a\n  Time (mean ± σ):      25.2 ms ±   6.9 ms    [User: 1.0 ms, System: 0.0 ms]\n  Range (min … max):    21.1 ms …  37.2 ms    5 runs\n",
     [("a", "mean", "25.2 ms", "")]),
    ("python -m timeit -s 'x=1' 'x+1'", "10000 loops, best of 5: 27.4 usec per loop\n", [("x+1", "time per loop", "27.4 usec", "")]),
    ("go test -bench . -count 2", "BenchmarkSum-8   100   2.50 ns/op   16 B/op\nBenchmarkSum-8   100   2.70 ns/op   16 B/op\nPASS\nok  \tshop\t1s\n",
     [("BenchmarkSum", "ns/op", "2.60 ns/op", ""), ("BenchmarkSum", "B/op", "16 B/op", "")]),
    ("cargo bench", "cart/sum                time:   [2.50 ms 2.53 ms 2.55 ms]\n                        change: [-38.1% -37.0% -36.2%] (p = 0.00 < 0.05)\n                        Performance has improved.\n",
     [("cart/sum", "time", "2.53 ms", "")]),
    ("pytest bench", "Name (time in us)     Min       Max      Mean  Rounds\n-----\ntest_sum     5.69 (1.0)  8,035.75 (1.0)  13.85 (1.0)  839\n-----\n",
     [("test_sum", "mean", "13.85 us", "")]),
    ("wrk -t2 -c8 http://127.0.0.1:80/", "Running 2s test @ http://127.0.0.1:80/\n  2 threads and 8 connections\nRequests/sec:   1564.44\nTransfer/sec:      1.02MB\n",
     [("http://127.0.0.1:80/", "requests", "1564.44 req/s", "-t2 -c8"), ("http://127.0.0.1:80/", "transfer per second", "1.02 MB", "-t2 -c8")]),
    ("ab -n 9 -c 3 http://h/", "This is ApacheBench, Version 2.3\nServer Hostname:        h\nServer Port:            80\nDocument Path:          /\nRequests per second:    416.70 [#/sec] (mean)\nFailed requests:        1\n",
     [("h:80/", "requests", "416.70 req/s", "-n 9 -c 3"), ("h:80/", "failed requests", "1", "-n 9 -c 3")]),
    ("k6 run load.js", "     http_req_duration..............: avg=12.1ms min=1ms med=10.2ms max=90ms p(90)=20ms p(95)=31ms\n     http_reqs......................: 900     89.9/s\n",
     [("load.js", "http_req_duration avg", "12.1 ms", ""), ("load.js", "http_req_duration med", "10.2 ms", ""), ("load.js", "http_req_duration max", "90 ms", ""),
      ("load.js", "http_req_duration p(90)", "20 ms", ""), ("load.js", "http_req_duration p(95)", "31 ms", ""), ("load.js", "http_reqs", "89.9/s (900 in all)", "")]),
    ("pgbench -c 4 shop", "scaling factor: 1\nnumber of clients: 4\nlatency average = 5.303 ms\ntps = 754.27 (without initial connection time)\n",
     [("pgbench", "tps", "754.27 tps", "scaling factor 1, number of clients 4"), ("pgbench", "latency average", "5.303 ms", "scaling factor 1, number of clients 4")]),
    ("sysbench cpu run", "sysbench 1.0.20\nNumber of threads: 2\n    events per second:  1007.74\n         avg:   1.97\n",
     [("sysbench cpu", "events", "1007.74 events/s", "2 threads"), ("sysbench cpu", "latency average", "1.97 ms", "2 threads")]),
    ("fio job.ini", "t: (g=0): rw=randread, bs=(R) 4096B-4096B, ioengine=psync, iodepth=4\nt: (groupid=0, jobs=1): err= 0: pid=8\n  read: IOPS=13.1k, BW=51.3MiB/s (53.8MB/s)(103MiB/2002msec)\n",
     [("fio t read", "IOPS", "13.1k IOPS", "randread bs=4096 iodepth=4"), ("fio t read", "bandwidth", "51.3 MiB/s", "randread bs=4096 iodepth=4")]),
    ("iperf3 -c peer -t 2", "Connecting to host peer, port 5201\n[  5]   0.00-2.00   sec  3.31 GBytes  14.2 Gbits/sec   14             sender\niperf Done.\n",
     [("iperf3 peer", "sender", "14.2 Gbits/sec", "-c -t 2")]),
    ("dd if=/dev/zero of=/data/x bs=1M", "104857600 bytes (105 MB, 100 MiB) copied, 0.1 s, 1.0 GB/s\n", [("dd of=/data/x", "rate", "1.0 GB/s", "")]),
    ("perf stat ./a", " Performance counter stats for './a':\n\n     0.66 msec task-clock      #    0.006 CPUs utilized\n\n   0.103 seconds time elapsed\n",
     [("./a", "task-clock", "0.66 msec", ""), ("./a", "time elapsed", "0.103 seconds", "")]),
    ("python bench_serving.py --backend vllm --max-concurrency 4", "==== Serving Benchmark Result ====\nOutput token throughput (tok/s):   182.50\nMean TTFT (ms):     412.33\n",
     [("vllm serving", "Output token throughput", "182.50 tok/s", "--max-concurrency 4"), ("vllm serving", "Mean TTFT", "412.33 ms", "--max-concurrency 4")]),
    ("./llama-bench -m a.gguf", "| model | size | threads | test | t/s |\n| --- | ---: | ---: | --- | ---: |\n| a 7B | 3.5 GiB | 8 | tg128 | 12.30 ± 0.05 |\n",
     [("a 7B", "tg128", "12.30 t/s", "threads 8")]),
    ("lm_eval --tasks arc", "|Tasks|Version|Filter|n-shot|Metric|   |Value |   |Stderr|\n|-----|------:|------|-----:|------|---|-----:|---|-----:|\n|arc  |      1|none  |     5|acc   |↑  |0.5912|±  |0.0142|\n",
     [("arc", "acc", "0.5912", "5-shot")]),
    ("ollama run m --verbose hi", "eval rate:            45.60 tokens/s\n", [("m", "eval rate", "45.60 tokens/s", "")]),
    ("python train.py --lr 1e-4", "step 250: train loss 2.31, val loss 2.44\nstep 500: train loss 2.01, val loss 2.54\n",
     [("train.py", "train loss", "2.01", "--lr 1e-4"), ("train.py", "val loss", "2.54", "--lr 1e-4")]),
    ("tail -1 runs/train.log", "epoch 4/5 step 9000 loss 1.904 acc 0.512\n", [("train.log", "loss", "1.904", ""), ("train.log", "acc", "0.512", "")]),
    ("python fit.py", "Epoch 1/2\n10/10 [==] - 1s - loss: 0.9 - val_loss: 0.8\nEpoch 2/2\n10/10 [==] - 1s - loss: 0.5 - val_loss: 0.6\n",
     [("fit.py", "loss", "0.5", ""), ("fit.py", "val_loss", "0.6", "")]),
    ("go tool pprof -top p", "      flat  flat%   sum%        cum   cum%\n    29.8s 48.3% 48.3%     31.3s 50.7%  a.add\n",
     [("go tool profile", "a.add", "29.8s (48.3%), cum 31.3s", "")]),
    ("python -m cProfile -s cumtime tide.py", "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n     8760   31.204    0.004   36.871    0.004 harm.py:48(node)\n",
     [("tide.py profile", "harm.py:48(node)", "36.871 s (own 31.204 s)", "")]),
    ("psql -c 'EXPLAIN ANALYZE SELECT 1' shop", " Planning Time: 0.120 ms\n Execution Time: 812.345 ms\n",
     [("psql", "execution time", "812.345 ms", "EXPLAIN ANALYZE SELECT 1")]),
    ("curl -s -o /dev/null -w 'total: %{time_total}s' http://h/search", "total: 0.412s\n", [("http://h/search", "total", "0.412 s", "")]),
    ("docker images", "REPOSITORY   TAG       IMAGE ID       CREATED         SIZE\nshop         latest    abc123def456   2 minutes ago   182MB\n",
     [("image shop", "size", "182 MB", "")]),
    ("npm run build", "dist/assets/index-D3kf02ab.js   143.21 kB │ gzip: 46.13 kB\n✓ built in 1.23s\n",
     [("dist/assets/index.js", "size", "143.21 kB (gzip 46.13 kB)", "")]),
    ("ffmpeg -i a.mov -vf fps=12 b.gif", "Output #0, gif, to 'b.gif':\nframe=  64 fps=0.0 Lsize=    1792KiB time=00:00:04.26 bitrate=3440.6kbits/s\n",
     [("b.gif", "size", "1792 KiB", "-vf fps=12")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "output", "expected"), [*OWN, *TOOLS], ids=[r[0] for r in (*OWN, *TOOLS)]
)
def test_measured(command: str, output: str, expected: list[tuple[str, ...]]):
    assert figures(command, output) == expected
    for fact in told(command, output):
        assert fact.quote in output


MORE = [
    ('hey -n 200 -c 4 http://h/', '\nSummary:\n  Total:\t0.5 secs\n  Slowest:\t0.0500 secs\n  Average:\t0.0123 secs\n  Requests/sec:\t812.5000\n\nResponse time histogram:\n  0.001 [1]\t|\n\nLatency distribution:\n  50% in 0.0100 secs\n  99% in 0.0400 secs\n',
     [('http://h/', 'requests', '812.5000 req/s'), ('http://h/', 'average', '0.0123 secs'), ('http://h/', 'slowest', '0.0500 secs')]),
    ('oha -n 200 http://h/', 'Summary:\n  Success rate:\t100.00%\n  Total:\t0.5 secs\n  Slowest:\t0.0500 secs\n  Average:\t12.3 ms\n  Requests/sec:\t812.5000\n\nResponse time histogram:\n  0.001 [1] |\n\nResponse time distribution:\n  50.00% in 10.0 ms\n  99.00% in 40.0 ms\n',
     [('http://h/', 'requests', '812.5000 req/s'), ('http://h/', 'success rate', '100.00%'), ('http://h/', 'average', '12.3 ms')]),
    ('vegeta report', 'Requests      [total, rate, throughput]         300, 100.33, 99.80\nDuration      [total, attack, wait]             3s, 2.9s, 1ms\nLatencies     [min, mean, 50, 90, 95, 99, max]  1ms, 2.5ms, 2.2ms, 4ms, 5ms, 9ms, 12ms\nSuccess       [ratio]                           99.50%\n',
     [('vegeta', 'requests rate', '100.33 req/s'), ('vegeta', 'requests throughput', '99.80 req/s'), ('vegeta', 'latencies mean', '2.5 ms')]),
    ('siege http://h/', 'Transactions:\t 100 hits\nAvailability:\t 100.00 %\nResponse time:\t 0.02 secs\nTransaction rate:\t 812.50 trans/sec\n',
     [('http://h/', 'transaction rate', '812.50 trans/sec'), ('http://h/', 'response time', '0.02 secs'), ('http://h/', 'availability', '100.00%')]),
    ('locust -f l.py', 'Type     Name    # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n--------|-----|-------|-------------|-------|\nGET      /a       113     2(1.77%) |      5       2      13      5 |   42.09        0.00\n',
     [('GET /a', 'requests', '42.09 req/s'), ('GET /a', 'average', '5 ms'), ('GET /a', 'median', '5 ms')]),
    ('java -jar bench.jar', 'Benchmark        Mode  Cnt    Score   Error  Units\nShop.sum        thrpt    5  123.400 ± 1.200  ops/s\nShop.sort        avgt    5    8.100          ms/op\n',
     [('Shop.sum', 'thrpt', '123.400 ops/s'), ('Shop.sort', 'avgt', '8.100 ms/op')]),
    ('./bench_cpp', '--------------------------------------------------\nBenchmark         Time             CPU   Iterations\n--------------------------------------------------\nBM_Sum/8        123 ns          122 ns      5600000\nBM_Sort/64     1.20 us         1.19 us       560000 items_per_second=12.3M/s\n',
     [('BM_Sum/8', 'time', '123 ns'), ('BM_Sort/64', 'time', '1.20 us')]),
    ('node b.js', 'map x 1,234,567 ops/sec ±0.50% (90 runs sampled)\nfor x 2,234,567 ops/sec ±0.40% (91 runs sampled)\nFastest is for\n',
     [('map', 'rate', '1,234,567 ops/sec'), ('for', 'rate', '2,234,567 ops/sec')]),
    ('npx vitest bench', ' ✓ a.bench.ts > sum\n     name          hz     min     max    mean     p75     p99    p995    p999     rme  samples\n   · for    22,345.6  0.0400  0.1200  0.0448  0.05  0.06  0.07  0.08  ±0.50%    11173   fastest\n',
     [('for', 'rate', '22,345.6 ops/s')]),
    ('pytest --cov', 'Name     Stmts   Miss  Cover\n----\na.py        10      1    90%\n----\nTOTAL      100     12    88%\n\n3 passed in 1.0s\n',
     [('tests', 'coverage', '88%')]),
    ('go test -cover ./...', 'ok  \tshop/cart\t0.1s\tcoverage: 81.2% of statements\n',
     [('shop/cart', 'coverage', '81.2%')]),
    ('npx jest --coverage', 'File      | % Stmts | % Branch | % Funcs | % Lines |\nAll files |   91.23 |    80.00 |   90.00 |   91.00 |\nTest Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\nTime:        1 s\n',
     [('tests', 'coverage', '91.23%')]),
    ('./main -m a.gguf -p hi', 'llama_perf_context_print: prompt eval time =     120.10 ms /    12 tokens (   10.01 ms per token,    99.92 tokens per second)\nllama_perf_context_print:        eval time =    1200.50 ms /   100 runs   (   12.01 ms per token,    83.30 tokens per second)\n',
     [('main', 'prompt eval rate', '99.92 tokens per second'), ('main', 'eval rate', '83.30 tokens per second')]),
    ('python benchmark_throughput.py --model m', 'Throughput: 9.80 requests/s, 5012.40 total tokens/s, 2506.20 output tokens/s\n',
     [('benchmark_throughput.py', 'throughput', '9.80 requests/s'), ('benchmark_throughput.py', 'total throughput', '5012.40 tokens/s'), ('benchmark_throughput.py', 'output throughput', '2506.20 tokens/s')]),
    ('./all_reduce_perf -g 8', '#  size  time\n# Avg bus bandwidth    : 12.34\n',
     [('all_reduce_perf', 'average bus bandwidth', '12.34 GB/s')]),
    ('redis-benchmark -t get', '====== GET ======\n  100000 requests completed in 1.00 seconds\n\nSummary:\n  throughput summary: 99900.10 requests per second\n',
     [('GET', 'throughput', '99900.10 requests per second')]),
    ('sysbench oltp_read_write run', 'sysbench 1.0.20\n    transactions:                        1504   (754.27 per sec.)\n    queries:                             30080  (15085.40 per sec.)\n         95th percentile:                       13.22\n',
     [('sysbench oltp_read_write', 'transactions', '754.27 per sec'), ('sysbench oltp_read_write', 'queries', '15085.40 per sec'), ('sysbench oltp_read_write', 'latency p95', '13.22 ms')]),
    ('cargo bench', 'test cart::sum ... bench:       1,234 ns/iter (+/- 56)\n',
     [('cart::sum', 'time', '1,234 ns/iter')]),
    ("mysql -e 'SELECT 1'", '1 row in set (0.12 sec)\n',
     [('mysql', 'time', '0.12 s')]),
    ("curl -o /dev/null -s -w '%{time_total}' http://h/", '0.412',
     [('http://h/', 'time_total', '0.412 s')]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "expected"), MORE, ids=[r[0] for r in MORE])
def test_measured_by_more_tools(command: str, output: str, expected: list[tuple[str, ...]]):
    """The first three figures of each tool: subject, metric, text."""
    assert [row[:3] for row in figures(command, output)[:3]] == expected


def test_spread_of_repeated_runs():
    (mean,) = told("python3 b.py", "run 1: 41.4 ms\nrun 2: 41.0 ms\nmean: 41.2 ms\n")
    assert picked(mean, "value", "spread") == ("41.2", "2 runs, 41.0 to 41.4")
    (own,) = told("python3 b.py", "run 1: 41.4 ms\nrun 2: 41.0 ms\n")
    assert picked(own, "value", "spread") == ("41.2", "mean of 2 runs, 41.0 to 41.4")


def test_training_tells_the_best():
    last = told("python t.py", "step 1: val loss 2.4\nstep 2: val loss 2.6\n")[0]
    assert picked(last, "value", "spread") == ("2.6", "step 2; best 2.4 at step 1")


def test_a_truncated_output_is_partial():
    (fact,) = told("./bench.sh", "... [truncated]\nthroughput: 34.0 tok/s\n")
    assert fact.fields["partial"] is True


def test_of_redrawn_lines_the_last_counts():
    assert figures("./bench.sh", "rate: 1 MB/s\rrate: 7 MB/s\n")[0][2] == "7 MB/s"


GRIDS = [
    ("python bench.py", "batch  tok/s  ttft_ms\n1      94.0   210\n4      251.7  240\n16     688.4  OOM\n",
     ["batch", "tok/s", "ttft_ms"], ["16", "688.4", "OOM"]),
    ("node bench.js", "┌─────────┬───────┐\n│ (index) │ ops/s │\n├─────────┼───────┤\n│ map     │ 12345 │\n│ for     │ 23456 │\n└─────────┴───────┘\n",
     ["(index)", "ops/s"], ["for", "23456"]),
    ("./bench.sh", "| codec | ratio | MB/s |\n|-------|------:|-----:|\n| gz | 3.91 | 212 |\n", ["codec", "ratio", "MB/s"], ["gz", "3.91", "212"]),
    ("python profile_run.py", "phase              ms/step\ndraft forward        2.10\ntarget verify       27.40\n", ["phase", "ms/step"], ["target verify", "27.40"]),
    ("python sweep.py", "size,ms\n10,1.5\n20,2.5\n", ["size", "ms"], ["20", "2.5"]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "columns", "last"), GRIDS, ids=[r[0] for r in GRIDS])
def test_printed_tables(command: str, output: str, columns: list[str], last: list[str]):
    (table,) = told(command, output, kind="table")
    assert table.fields["columns"] == columns
    assert table.fields["rows"][-1] == last


@pytest.mark.parametrize(("command", "output"), [
    ("ls -l", "total  4\n-rw  1  a\n-rw  2  b\n"),
    ("psql -c 'select 1'", " id | n\n----+---\n  1 | 2\n"),
    ("python list.py", "pid  cpu\n1  2.0\n2  3.0\n"),
    ("python show.py", "name  owner  note\na  b  c\nd  e  f\n"),
])  # fmt: skip
def test_listings_are_no_tables_of_figures(command: str, output: str):
    assert told(command, output, kind="table") == []


LINES = [line for _, output, *_ in (*OWN, *TOOLS, *GRIDS) for line in output.split("\n")]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=30)), max_size=12))
def test_no_parser_raises(lines: list[str]):
    (run,) = runs("python bench.py --n 3")
    text = "\n".join(lines)
    for one in outputs():
        for claim in one.parse(run, text):
            assert isinstance(claim.fields, dict)
