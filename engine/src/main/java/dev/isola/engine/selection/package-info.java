/** Provider selection: candidates in order, and a reason for every other provider. Pure. */
@NullMarked
package dev.isola.engine.selection;

import org.jspecify.annotations.NullMarked;
