import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until, useSandbox } from './sandbox.mjs'

const sandbox = useSandbox()
const bytes = (text) => new TextEncoder().encode(text)

function screen() {
  let text = ''
  const decoder = new TextDecoder()
  const onData = (data) => void (text += decoder.decode(data, { stream: true }))
  return { onData, shows: (what) => until(() => text.includes(what), `the screen shows ${what}`) }
}

test('a terminal', async () => {
  const { onData, shows } = screen()
  const pty = await sandbox().pty.create({ cols: 93, rows: 31, onData, envs: { MINE: 'yes' } })
  await sandbox().pty.sendInput(pty.pid, bytes('stty size; echo "[$MINE $TERM $(pwd)]"\n'))
  await shows('31 93')
  await shows('[yes xterm-256color /home/user]')
  await sandbox().pty.resize(pty.pid, { cols: 120, rows: 40 })
  await sandbox().pty.sendInput(pty.pid, bytes('stty size\n'))
  await shows('40 120')
  await sandbox().pty.sendInput(pty.pid, bytes('sleep 300\n'))
  const inFront = 'ps -eo stat=,args= | grep -c "^S[^ ]*+ .*sleep 300" || true'
  await until(async () => (await sandbox().commands.run(inFront)).stdout !== '0\n', 'it sleeps')
  await sandbox().pty.sendInput(pty.pid, bytes('\x03'))
  await sandbox().pty.sendInput(pty.pid, bytes('echo still-$((40 + 2)); exit 5\n'))
  await shows('still-42')
  await assert.rejects(pty.wait(), { exitCode: 5 })
})

test('another client connects to the same terminal', async () => {
  const first = screen()
  const second = screen()
  const options = { cwd: '/tmp', timeoutMs: 10_000 } // the SDK's timer outlives disconnect()
  const pty = await sandbox().pty.create({ cols: 80, rows: 24, onData: first.onData, ...options })
  await pty.disconnect()
  const again = await sandbox().pty.connect(pty.pid, { onData: second.onData })
  await sandbox().pty.sendInput(pty.pid, bytes('echo from-$(pwd)\n'))
  await second.shows('from-/tmp')
  assert.equal(await sandbox().pty.kill(pty.pid), true)
  await assert.rejects(again.wait(), { exitCode: -1 })
  assert.equal(await sandbox().pty.kill(pty.pid), false)
})

test('a terminal for root', async () => {
  const { onData, shows } = screen()
  const pty = await sandbox().pty.create({ cols: 80, rows: 24, onData, user: 'root' })
  await sandbox().pty.sendInput(pty.pid, bytes('echo who-$(id -un)\n'))
  await shows('who-root')
  assert.equal(await pty.kill(), true)
})
