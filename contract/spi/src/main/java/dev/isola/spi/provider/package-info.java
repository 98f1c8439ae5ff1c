/** What a provider is: how it is found, what it declares, what it makes sandboxes with. */
@NullMarked
package dev.isola.spi.provider;

import org.jspecify.annotations.NullMarked;
