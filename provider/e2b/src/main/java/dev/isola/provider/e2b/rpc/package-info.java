/** What E2B runs inside a sandbox, envd: calls and streams in JSON, content of files. */
@NullMarked
package dev.isola.provider.e2b.rpc;

import org.jspecify.annotations.NullMarked;
