/** Commands and terminals over envd. */
@NullMarked
package dev.isola.provider.e2b.exec;

import org.jspecify.annotations.NullMarked;
