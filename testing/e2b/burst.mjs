// Measures a burst with the E2B SDK: many sandboxes requested at once, each until the result of its first command.
//   node burst.mjs [SANDBOXES] [ROUNDS]
import { Sandbox } from 'e2b'

const count = Number(process.argv[2] ?? 100)
const rounds = Number(process.argv[3] ?? 3)
const at = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(0)
const sorted = (list) => list.toSorted((a, b) => a - b)

// Kills a few at a time, so that one round does not disturb the next.
async function killAll(sandboxes) {
  const left = [...sandboxes]
  const worker = async () => {
    for (let one = left.pop(); one; one = left.pop()) await one.kill()
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

async function burst() {
  const sandboxes = []
  const creates = []
  const totals = []
  const failures = []
  const begun = performance.now()
  const one = async () => {
    try {
      const sandbox = await Sandbox.create({ timeoutMs: 600_000, requestTimeoutMs: 300_000 })
      sandboxes.push(sandbox)
      creates.push(performance.now() - begun)
      const { stdout } = await sandbox.commands.run('echo ready', { timeoutMs: 0, requestTimeoutMs: 300_000 })
      if (stdout !== 'ready\n') throw new Error(`unexpected output: ${stdout}`)
      totals.push(performance.now() - begun)
    } catch (error) {
      failures.push(`${error.name}: ${error.message}`)
    }
  }
  await Promise.all(Array.from({ length: count }, one))
  const wall = performance.now() - begun
  await killAll(sandboxes)
  return { wall, creates: sorted(creates), totals: sorted(totals), failures }
}

const warm = await Sandbox.create()
await warm.commands.run('true')
await warm.kill()
let failed = 0
for (let round = 1; round <= rounds; round++) {
  const { wall, creates, totals, failures } = await burst()
  console.log(
    `burst of ${count}, round ${round}: all done after ${wall.toFixed(0)} ms (${((count * 1000) / wall).toFixed(1)} sandboxes/s)`,
  )
  if (totals.length > 0) {
    console.log(`  created: median ${at(creates, 0.5)} ms, p95 ${at(creates, 0.95)} ms, last ${at(creates, 1)} ms`)
    console.log(`  first command: median ${at(totals, 0.5)} ms, p95 ${at(totals, 0.95)} ms, last ${at(totals, 1)} ms`)
  }
  console.log(`  failed: ${failures.length}`)
  for (const why of new Set(failures)) console.log(`    ${why}`)
  failed += failures.length
}
process.exitCode = failed === 0 ? 0 : 1
