import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AuthenticationError,
  CommandExitError,
  InvalidArgumentError,
  NotFoundError,
  Sandbox,
  TimeoutError,
} from 'e2b'
import { until, useSandbox } from './sandbox.mjs'

const sandbox = useSandbox({ envs: { OF_THE_SANDBOX: 'yes' } })

test('run returns stdout, stderr and the exit code', async () => {
  const result = await sandbox().commands.run('echo out; echo err >&2')
  assert.deepEqual(
    [result.exitCode, result.stdout, result.stderr, result.error],
    [0, 'out\n', 'err\n', undefined],
  )
})

test('large Unicode output is complete', async () => {
  const text = 'žluťoučký kůň 🐎 ' + "'\"$`\\"
  const result = await sandbox().commands.run('cat <<"END"\n' + text + '\nEND')
  assert.equal(result.stdout, text + '\n')
  const much = await sandbox().commands.run('head -c 3000000 /dev/zero | tr "\\0" x')
  assert.equal(much.stdout.length, 3_000_000)
})

test('a nonzero exit code throws an error with the whole result', async () => {
  await assert.rejects(sandbox().commands.run('echo so far; echo why >&2; exit 7'), (error) => {
    assert.ok(error instanceof CommandExitError)
    assert.equal(error.exitCode, 7)
    assert.equal(error.stdout, 'so far\n')
    assert.equal(error.stderr, 'why\n')
    assert.match(error.error, /exit status 7/)
    return true
  })
})

test('a missing program returns exit code 127 of the shell', async () => {
  await assert.rejects(sandbox().commands.run('no-such-program'), { exitCode: 127 })
})

test('a command ended by a signal reports it', async () => {
  const handle = await sandbox().commands.run('kill -9 $$', { background: true })
  await assert.rejects(handle.wait(), (error) => {
    assert.equal(error.exitCode, -1)
    assert.match(error.error, /signal: killed/)
    return true
  })
})

test('commands see variables of the sandbox and their own only', async () => {
  const run = (cmd, opts) => sandbox().commands.run(cmd, opts)
  const print = 'echo "$OF_THE_SANDBOX $MINE $E2B_SANDBOX $HOME $USER"'
  const envs = { MINE: 'a b' }
  assert.equal((await run(print, { envs })).stdout, 'yes a b true /home/user user\n')
  assert.equal((await run(print)).stdout, 'yes  true /home/user user\n')
  const other = { OF_THE_SANDBOX: 'no' }
  assert.equal((await run('echo $OF_THE_SANDBOX', { envs: other })).stdout, 'no\n')
})

test('the working folder', async () => {
  const pwd = async (opts) => (await sandbox().commands.run('pwd', opts)).stdout.trim()
  assert.equal(await pwd(), '/home/user')
  assert.equal(await pwd({ cwd: '/tmp' }), '/tmp')
  await sandbox().files.makeDir('deep/er')
  assert.equal(await pwd({ cwd: 'deep/er' }), '/home/user/deep/er')
  assert.equal(await pwd({ cwd: '~/deep' }), '/home/user/deep')
  await assert.rejects(pwd({ cwd: '/no/such/folder' }), InvalidArgumentError)
})

test('users', async () => {
  const who = async (opts) => (await sandbox().commands.run('id -un; pwd', opts)).stdout
  assert.equal(await who(), 'user\n/home/user\n')
  assert.equal(await who({ user: 'user' }), 'user\n/home/user\n')
  assert.equal(await who({ user: 'root' }), 'root\n/root\n')
  await assert.rejects(who({ user: 'no-such-user' }), AuthenticationError)
})

test('the user can write to its home directory only', async () => {
  await sandbox().commands.run('echo mine > ~/mine && rm ~/mine')
  await assert.rejects(sandbox().commands.run('touch /etc/x'), CommandExitError)
  await sandbox().commands.run('touch /etc/x && rm /etc/x', { user: 'root' })
})

test('sudo does not inherit the environment of the command', async () => {
  const run = async (cmd, opts) => (await sandbox().commands.run(cmd, opts)).stdout
  assert.equal(await run('sudo id -un; sudo pwd; id -un'), 'root\n/home/user\nuser\n')
  const envs = { MINE: 'leaked' }
  assert.equal(await run('sudo sh -c \'echo "[$MINE] $HOME $SUDO_USER"\'', { envs }), '[] /root user\n')
  assert.equal(await run('sudo -E sh -c \'echo "[$MINE]"\'', { envs }), '[leaked]\n')
  assert.equal(await run('sudo OTHER=x sh -c \'echo "[$OTHER]"\''), '[x]\n')
  assert.equal(await run('echo typed | sudo cat; sudo -u user id -un'), 'typed\nuser\n')
  assert.equal(await run("sudo -i sh -c 'pwd; echo \"$0 $1\"' a 'b c'"), '/root\na b c\n')
  await assert.rejects(run('sudo sh -c "exit 42"'), { exitCode: 42 })
  await assert.rejects(run('sudo no-such-program'), { exitCode: 1 })
  await run('sudo sh -c "echo root > /etc/by-sudo"')
  assert.equal(await run('stat -c %U /etc/by-sudo'), 'root\n')
  await run('echo "other:x:1001:1001::/tmp:/bin/bash" >> /etc/passwd', { user: 'root' })
  await assert.rejects(run('sudo id', { user: 'other' }), { exitCode: 1 })
  assert.ok(!(await sandbox().commands.list()).some((one) => one.args.includes('--sudo')))
})

test('killing a command kills its sudo child', async () => {
  const handle = await sandbox().commands.run('sudo sleep 4711', { background: true })
  const found = () => sandbox().commands.run('ps ax -o args | grep -c "^sleep 471[1]"').then(
    (one) => Number(one.stdout),
    () => 0,
  )
  await until(async () => (await found()) === 1, 'it runs')
  await handle.kill()
  await until(async () => (await found()) === 0, 'it is gone')
})

test('output arrives while the command runs', async () => {
  const seen = []
  const handle = await sandbox().commands.run(
    'echo one; while [ ! -e /tmp/go ]; do sleep 0.05; done; echo two; echo three >&2',
    {
      background: true,
      onStdout: (text) => seen.push(text),
      onStderr: (text) => seen.push('!' + text),
    },
  )
  await until(() => seen.join('') === 'one\n', 'the first line')
  await sandbox().files.write('/tmp/go', '')
  const result = await handle.wait()
  assert.equal(result.exitCode, 0)
  assert.equal(seen.join(''), 'one\ntwo\n!three\n')
})

test('a background command is listed, connected to and killed', async () => {
  const started = await sandbox().commands.run('echo begin; sleep 300', { background: true })
  assert.ok(started.pid > 0)
  const listed = (await sandbox().commands.list()).find((one) => one.pid === started.pid)
  assert.equal(listed.cmd, '/bin/bash')
  assert.deepEqual(listed.args, ['-l', '-c', 'echo begin; sleep 300'])
  assert.equal(listed.cwd, '/home/user')
  await started.disconnect()
  assert.equal((await sandbox().commands.run(`kill -0 ${started.pid}`)).exitCode, 0)
  const again = await sandbox().commands.connect(started.pid)
  assert.equal(again.pid, started.pid)
  assert.equal(await sandbox().commands.kill(started.pid), true)
  await assert.rejects(sandbox().commands.run(`kill -0 ${started.pid}`), CommandExitError)
  await assert.rejects(again.wait(), { exitCode: -1 })
  assert.equal(await sandbox().commands.kill(started.pid), false)
  assert.ok(!(await sandbox().commands.list()).some((one) => one.pid === started.pid))
})

test('a new connection receives later output', async () => {
  const cmd = 'echo before; while [ ! -e /tmp/on ]; do sleep 0.05; done; echo after; exit 3'
  const started = await sandbox().commands.run(cmd, { background: true })
  await until(() => started.stdout.includes('before'), 'the first line')
  const again = await sandbox().commands.connect(started.pid)
  await sandbox().files.write('/tmp/on', '')
  await assert.rejects(again.wait(), { exitCode: 3, stdout: 'after\n' })
  await assert.rejects(started.wait(), { exitCode: 3, stdout: 'before\nafter\n' })
})

test('connecting to a missing process fails', async () => {
  await assert.rejects(sandbox().commands.connect(999_999), NotFoundError)
})

test('input', async () => {
  const cat = await sandbox().commands.run('cat', { background: true, stdin: true })
  await sandbox().commands.sendStdin(cat.pid, 'one\n')
  await cat.sendStdin('dvě 🐎\n')
  await until(() => cat.stdout === 'one\ndvě 🐎\n', 'what was sent')
  await sandbox().commands.closeStdin(cat.pid)
  assert.equal((await cat.wait()).stdout, 'one\ndvě 🐎\n')

  const count = await sandbox().commands.run('wc -c', { background: true, stdin: true })
  await count.sendStdin('x'.repeat(1_000_000))
  await count.closeStdin()
  assert.equal((await count.wait()).stdout.trim(), '1000000')
})

test('a command without stdin reads end of file', async () => {
  assert.equal((await sandbox().commands.run('cat; echo end')).stdout, 'end\n')
})

test('a command that exceeds its timeout is killed', async () => {
  const mark = `sleep 301.${process.pid}`
  await assert.rejects(sandbox().commands.run(mark, { timeoutMs: 500 }), TimeoutError)
  await until(
    async () => !(await sandbox().commands.list()).some((one) => one.args.includes(mark)),
    'the command is gone',
  )
  assert.equal((await sandbox().commands.run('sleep 0.2; echo done', { timeoutMs: 0 })).exitCode, 0)
})

test('many commands run concurrently', async () => {
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, i) => sandbox().commands.run(`sleep 0.1; echo ${i}`)),
  )
  assert.deepEqual(all.map((one) => one.stdout.trim()), all.map((_, i) => String(i)))
})

test('another client connects by id', async () => {
  const other = await Sandbox.connect(sandbox().sandboxId)
  assert.equal((await other.commands.run('echo $OF_THE_SANDBOX')).stdout, 'yes\n')
  assert.equal(await other.isRunning(), true)
})

test('killing a sandbox ends its commands with an error', async () => {
  const doomed = await Sandbox.create()
  const handle = await doomed.commands.run('sleep 300', { background: true })
  const end = assert.rejects(handle.wait(), { name: 'TimeoutError', message: /The sandbox was killed/ })
  assert.equal(await doomed.kill(), true)
  await end
  assert.equal(await doomed.isRunning(), false)
  await assert.rejects(doomed.commands.run('true'), /sandbox|not found/i)
})
