// Measures the latency of the E2B SDK: a sandbox with its first command, and a command, compared with a bare bash on this machine.
import { execFileSync } from 'node:child_process'
import { Sandbox } from 'e2b'

const rounds = Number(process.argv[2] ?? 30)
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1].toFixed(2)
const timed = async (list, work) => {
  const begun = performance.now()
  await work()
  list.push(performance.now() - begun)
}

for (let i = 0; i < 5; i++) {
  const sandbox = await Sandbox.create()
  await sandbox.commands.run('true')
  await sandbox.kill()
}
const cold = []
for (let i = 0; i < rounds; i++) {
  let sandbox
  await timed(cold, async () => {
    sandbox = await Sandbox.create()
    await sandbox.commands.run('true')
  })
  await sandbox.kill()
}
const run = []
const bare = []
const inside = []
const sandbox = await Sandbox.create()
const env = { PATH: process.env.PATH, HOME: '/nonexistent' }
for (let i = 0; i < 10; i++) await sandbox.commands.run('true')
for (let i = 0; i < rounds * 5; i++) {
  await timed(run, () => sandbox.commands.run('true'))
  await timed(bare, () => execFileSync('/bin/bash', ['-l', '-c', 'true'], { env }))
}
const loop = 'n=0; s=$(date +%s%N); while [ $n -lt 100 ]; do bash -l -c true; n=$((n+1)); done; echo $(( $(date +%s%N) - s ))'
const nanos = Number((await sandbox.commands.run(loop)).stdout)
await sandbox.kill()
console.log(`create and first command: ${median(cold)} ms (median of ${rounds})`)
console.log(`commands.run('true'): ${median(run)} ms (median of ${rounds * 5})`)
console.log(`bash -l -c true on this machine: ${median(bare)} ms; above it: ${(median(run) - median(bare)).toFixed(2)} ms`)
console.log(`bash -l -c true in a loop inside the sandbox: ${(nanos / 1e8).toFixed(2)} ms each`)
