import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Sandbox } from '@e2b/code-interpreter'

let sandbox
before(async () => {
  sandbox = await Sandbox.create()
})
after(async () => {
  await sandbox?.kill()
})

test('the quick start', async () => {
  const execution = await sandbox.runCode('print("hello world")')
  assert.deepEqual(execution.logs.stdout.join(''), 'hello world\n')
  const files = await sandbox.files.list('/')
  assert.ok(files.some((one) => one.name === 'home'))
})

test('variables persist, and the last expression is the result', async () => {
  await sandbox.runCode('x = 20')
  const execution = await sandbox.runCode('x += 1\nx * 2')
  assert.equal(execution.text, '42')
  assert.equal(execution.error, undefined)
})

test('an error has a name, a value and a traceback', async () => {
  const { error } = await sandbox.runCode('a = 1\nb = a / 0')
  assert.equal(error.name, 'ZeroDivisionError')
  assert.equal(error.value, 'division by zero')
  assert.match(error.traceback, /b = a \/ 0/)
})

test('output is streamed', async () => {
  const lines = []
  const results = []
  await sandbox.runCode('import sys\nprint("one")\nprint("two", file=sys.stderr)\n7', {
    onStdout: (message) => lines.push(['out', message.line]),
    onStderr: (message) => lines.push(['err', message.line]),
    onResult: (result) => results.push(result.text),
  })
  assert.deepEqual(lines.toSorted(), [['err', 'two\n'], ['out', 'one\n']])
  assert.deepEqual(results, ['7'])
})

test('a result may be HTML', async () => {
  const code = 'class Page:\n  def _repr_html_(self): return "<b>bold</b>"\nPage()'
  const [result] = (await sandbox.runCode(code)).results
  assert.equal(result.html, '<b>bold</b>')
})

test('contexts are isolated', async () => {
  const context = await sandbox.createCodeContext({ cwd: '/tmp' })
  await sandbox.runCode('mine = 1')
  const { error } = await sandbox.runCode('mine', { context })
  assert.equal(error.name, 'NameError')
  const where = await sandbox.runCode('import os; os.getcwd()', { context })
  assert.match(where.text, /\/tmp/)
  assert.ok((await sandbox.listCodeContexts()).some((one) => one.id === context.id))
  await sandbox.removeCodeContext(context)
})

test('environment variables apply to one cell', async () => {
  const code = 'import os; os.environ.get("ONCE")'
  assert.match((await sandbox.runCode(code, { envs: { ONCE: 'yes' } })).text, /yes/)
  assert.notEqual((await sandbox.runCode(code)).text, "'yes'")
})
