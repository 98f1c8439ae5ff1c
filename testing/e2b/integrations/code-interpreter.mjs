// The quick start of @e2b/code-interpreter.
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'

const sbx = await Sandbox.create()
await sbx.runCode('x = 1')

const execution = await sbx.runCode('x+=1; x')
console.log(execution.text)
assert.equal(execution.text, '2')
await sbx.kill()
