// One sandbox for all tests of a file, created and killed through the SDK.
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

// Waits until a condition holds.
export async function until(holds, what, timeoutMs = 10_000) {
  const end = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
