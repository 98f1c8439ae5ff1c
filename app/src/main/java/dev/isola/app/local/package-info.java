/** Commands that run a sandbox from this process. */
@NullMarked
package dev.isola.app.local;

import org.jspecify.annotations.NullMarked;
