/** A blob store in a bucket of any S3-compatible service. */
@NullMarked
package dev.isola.snapshot.s3;

import org.jspecify.annotations.NullMarked;
