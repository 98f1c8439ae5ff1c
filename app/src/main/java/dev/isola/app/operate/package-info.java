/** Commands for the operator of this machine: diagnosis, images, providers. */
@NullMarked
package dev.isola.app.operate;

import org.jspecify.annotations.NullMarked;
