/** Sandboxes by PRoot: another view of the files, and nothing else. */
@NullMarked
package dev.isola.provider.proot;

import org.jspecify.annotations.NullMarked;
