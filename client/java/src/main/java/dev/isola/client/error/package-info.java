/** What can go wrong, in the words of the server's contract: one class for each way to react. */
@NullMarked
package dev.isola.client.error;

import org.jspecify.annotations.NullMarked;
