/** Blobs in a bucket of any server that speaks S3. */
@NullMarked
package dev.isola.snapshot.s3;

import org.jspecify.annotations.NullMarked;
