/**
 * Files over envd: content through its HTTP routes, everything else through scripts in the sandbox.
 */
@NullMarked
package dev.isola.provider.e2b.file;

import org.jspecify.annotations.NullMarked;
