/** Programs of the host: their versions and known vulnerabilities. */
@NullMarked
package dev.isola.host.program;

import org.jspecify.annotations.NullMarked;
