/** Provider based on PRoot, which changes the view of the file system only. */
@NullMarked
package dev.isola.provider.proot;

import org.jspecify.annotations.NullMarked;
