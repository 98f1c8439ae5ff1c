package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Translates error responses of an S3 service. */
final class S3Errors {
  private static final Pattern CODE = Pattern.compile("<Code>([A-Za-z0-9]{1,64})</Code>");

  private S3Errors() {}

  /** Includes only the error code: the rest of the response may contain keys and signatures. */
  static IOException of(String what, HttpResponse<byte[]> response) {
    Matcher code = CODE.matcher(new String(response.body(), UTF_8));
    String name = code.find() ? code.group(1) : "";
    int status = response.statusCode();
    String hint =
        switch (status) {
          case 301, 307, 400 -> "; check region and endpoint";
          case 401, 403 ->
              "; check the credentials, their permissions, and the clock of this machine";
          case 404 -> "; check the name of the bucket";
          case 507 -> "; No space left in the bucket";
          default ->
              name.contains("StorageFull") || name.contains("QuotaExceeded")
                  ? "; No space left in the bucket"
                  : "";
        };
    return new IOException(
        what + " failed with " + status + (name.isEmpty() ? "" : " " + name) + hint);
  }
}
