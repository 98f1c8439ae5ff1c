/** HTTP requests of guest processes to other hosts: opens TLS, checks and changes requests. */
@NullMarked
package dev.isola.egress.http;

import org.jspecify.annotations.NullMarked;
