/** Trees on their way: tar, read strictly and written as the contract wants it. */
@NullMarked
package dev.isola.archive;

import org.jspecify.annotations.NullMarked;
