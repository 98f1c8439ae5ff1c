/** Files over envd: content by its routes, everything else by programs inside the sandbox. */
@NullMarked
package dev.isola.provider.e2b.file;

import org.jspecify.annotations.NullMarked;
