/**
 * What E2B's clients find inside a sandbox: processes and files by the Connect protocol in JSON,
 * content of files and facts by plain HTTP. A translation over the contract; no provider is known.
 */
@NullMarked
package dev.isola.compat.e2b.envd;

import org.jspecify.annotations.NullMarked;
