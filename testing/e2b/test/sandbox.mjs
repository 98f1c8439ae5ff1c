// One sandbox for all tests of a file, made and killed as a user would.
import { after, before } from 'node:test'
import { Sandbox } from 'e2b'

export function useSandbox(options = {}) {
  const held = {}
  before(async () => {
    held.sandbox = await Sandbox.create({ timeoutMs: 300_000, ...options })
  })
  after(async () => {
    await held.sandbox?.kill()
  })
  return () => held.sandbox
}

// Waits until something holds.
export async function until(holds, what, patienceMs = 10_000) {
  const end = Date.now() + patienceMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${patienceMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
