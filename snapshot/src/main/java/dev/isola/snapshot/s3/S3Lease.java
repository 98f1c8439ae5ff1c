package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.snapshot.blob.AlreadyClaimedException;
import dev.isola.snapshot.blob.BlobStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Exclusive write access to a bucket. The owner creates an object, renews it regularly and removes
 * it at the end. Another process takes over an object that was not renewed for a long time.
 * Conditional requests ensure that only one of two processes succeeds, and the age of the object is
 * measured by the clock of the service alone.
 *
 * <p>An owner that fails to renew in time stops writing well before another can take over.
 */
final class S3Lease {
  private static final String KEY = "owner";
  private static final Duration RENEW_INTERVAL = Duration.ofSeconds(20);

  /** The owner stops writing after this long without a renewal. */
  private static final Duration WRITE_TIMEOUT = Duration.ofSeconds(90);

  /**
   * Another process may take over after this long without a renewal. The margin exceeds the
   * duration of a request.
   */
  static final Duration STALE = Duration.ofMinutes(5);

  private final S3Client bucket;
  private volatile @Nullable HeldLease held;

  S3Lease(S3Client bucket) {
    this.bucket = bucket;
  }

  /** Throws unless this process is the owner and no other process can have taken over yet. */
  void check() throws IOException {
    HeldLease current = held;
    if (current == null) {
      throw new AlreadyClaimedException("no lease is held on " + bucket);
    }
    current.check();
  }

  /**
   * @param work the folder that stores this owner's name, so that a restarted owner can take over
   *     its own lease
   */
  BlobStore.Claim claim(Path work) throws IOException {
    Path name = work.resolve(KEY);
    if (!Files.exists(name)) {
      Path fresh = Files.createTempFile(work, KEY, ".new");
      Files.writeString(fresh, UUID.randomUUID().toString());
      Files.move(fresh, name, StandardCopyOption.ATOMIC_MOVE);
    }
    String me = Files.readString(name);
    long begin = System.nanoTime();
    S3Client.S3Response made = put(me, Map.of("if-none-match", "*"));
    if (made.status() == 404) {
      throw S3Errors.of(bucket.toString(), made.response());
    }
    if (made.status() != 200) {
      S3Client.S3Response there =
          bucket.send(S3Client.S3Request.of("GET", KEY, Map.of(), 1 << 10), 200, 404);
      boolean mine = new String(there.response().body(), UTF_8).equals(me);
      if (there.status() == 200 && !mine && age(there).compareTo(STALE) < 0) {
        throw new AlreadyClaimedException(
            "another server owns "
                + bucket
                + " (lease renewed "
                + age(there).toSeconds()
                + " s ago; the lease of a killed server expires after "
                + STALE.toSeconds()
                + " s)");
      }
      begin = System.nanoTime();
      made =
          put(
              me,
              there.status() == 404
                  ? Map.of("if-none-match", "*")
                  : Map.of("if-match", there.header("etag")));
      if (made.status() != 200) {
        throw new AlreadyClaimedException("another server claimed " + bucket + " at the same time");
      }
    }
    HeldLease now = new HeldLease(me, made.header("etag"), begin);
    held = now;
    now.renewer.start();
    return now;
  }

  private S3Client.S3Response put(String me, Map<String, String> condition) throws IOException {
    return bucket.send(
        S3Client.S3Request.put(KEY, condition, S3Client.Body.of(me.getBytes(UTF_8))),
        200,
        404,
        409,
        412);
  }

  private static Duration age(S3Client.S3Response answer) throws IOException {
    return Duration.between(time(answer, "last-modified"), time(answer, "date"));
  }

  private static Instant time(S3Client.S3Response answer, String header) throws IOException {
    try {
      return ZonedDateTime.parse(answer.header(header), DateTimeFormatter.RFC_1123_DATE_TIME)
          .toInstant();
    } catch (DateTimeException e) {
      throw new IOException("the response of the bucket has no valid Date header", e);
    }
  }

  /** The lease while this process holds it. */
  private final class HeldLease implements BlobStore.Claim {
    private final String me;
    private final Thread renewer = Thread.ofVirtual().name("snapshot-lease").unstarted(this::renew);
    private String etag;
    private volatile long renewedAt;
    private volatile boolean lost;

    HeldLease(String me, String etag, long renewedAt) {
      this.me = me;
      this.etag = etag;
      this.renewedAt = renewedAt;
    }

    void check() throws IOException {
      if (lost || System.nanoTime() - renewedAt > WRITE_TIMEOUT.toNanos()) {
        throw new AlreadyClaimedException(
            bucket
                + ": the lease was lost; another server took it over, or the bucket was unreachable"
                + " for too long");
      }
    }

    private void renew() {
      while (!lost) {
        try {
          Thread.sleep(RENEW_INTERVAL);
          long begin = System.nanoTime();
          S3Client.S3Response answer = put(me, Map.of("if-match", etag));
          if (answer.status() != 200 && !(answer.repeated() && isMine())) {
            lost = true;
            return;
          }
          if (answer.status() == 200) {
            etag = answer.header("etag");
            renewedAt = begin;
          }
        } catch (InterruptedException e) {
          return; // The lease was closed.
        } catch (IOException e) {
          // The next renewal retries; {@code check} fails once the lease is too old.
        }
      }
    }

    /**
     * Tells whether the object is this owner's: after an attempt without a response, only the
     * content shows whether the attempt succeeded.
     */
    private boolean isMine() throws IOException {
      S3Client.S3Response there =
          bucket.send(S3Client.S3Request.of("GET", KEY, Map.of(), 1 << 10), 200, 404);
      if (!new String(there.response().body(), UTF_8).equals(me)) {
        return false;
      }
      etag = there.header("etag");
      return true;
    }

    @Override
    public void close() throws IOException {
      renewer.interrupt();
      try {
        renewer.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while releasing the lease", e);
      }
      held = null;
      if (!lost && isMine()) {
        bucket.send(S3Client.S3Request.of("DELETE", KEY, Map.of(), 0), 200, 204, 404);
      }
    }
  }
}
