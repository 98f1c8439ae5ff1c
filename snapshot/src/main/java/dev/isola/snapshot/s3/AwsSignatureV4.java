package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.digest.Sha256;
import dev.isola.spi.Secret;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** AWS Signature Version 4 for S3, which authenticates a request without sending the secret key. */
final class AwsSignatureV4 {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final String ALGORITHM = "AWS4-HMAC-SHA256";
  private static final String UNRESERVED = "-_.~";

  private AwsSignatureV4() {}

  static String time(Instant now) {
    return TIME.format(now);
  }

  /**
   * Returns the value of the {@code Authorization} header.
   *
   * @param path the encoded path of the request
   * @param headers all signed headers, including {@code host}, {@code x-amz-date} and {@code
   *     x-amz-content-sha256}
   */
  static String of(
      String method,
      String path,
      SortedMap<String, String> query,
      Map<String, String> headers,
      String region,
      String accessKey,
      Secret secretKey) {
    SortedMap<String, String> signed = new TreeMap<>();
    headers.forEach((name, value) -> signed.put(name.toLowerCase(Locale.ROOT), value.strip()));
    String names = String.join(";", signed.keySet());
    String request =
        method
            + "\n"
            + path
            + "\n"
            + query(query)
            + "\n"
            + signed.entrySet().stream()
                .map(header -> header.getKey() + ":" + header.getValue() + "\n")
                .collect(Collectors.joining())
            + "\n"
            + names
            + "\n"
            + signed.get("x-amz-content-sha256");
    String time = String.valueOf(signed.get("x-amz-date"));
    String day = time.substring(0, 8);
    String scope = day + "/" + region + "/s3/aws4_request";
    String text = ALGORITHM + "\n" + time + "\n" + scope + "\n" + Sha256.hex(request);
    byte[] key = ("AWS4" + new String(secretKey.reveal(), UTF_8)).getBytes(UTF_8);
    for (String part : new String[] {day, region, "s3", "aws4_request"}) {
      key = hmac(key, part);
    }
    return ALGORITHM
        + " Credential="
        + accessKey
        + "/"
        + scope
        + ",SignedHeaders="
        + names
        + ",Signature="
        + HexFormat.of().formatHex(hmac(key, text));
  }

  /** Returns the query string as it is signed and sent. */
  static String query(SortedMap<String, String> query) {
    return query.entrySet().stream()
        .map(one -> encode(one.getKey(), false) + "=" + encode(one.getValue(), false))
        .collect(Collectors.joining("&"));
  }

  /** Percent-encodes everything except unreserved characters. */
  static String encode(String text, boolean slashes) {
    StringBuilder encoded = new StringBuilder();
    for (byte one : text.getBytes(UTF_8)) {
      char c = (char) (one & 0xff);
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (letter || UNRESERVED.indexOf(c) >= 0 || (slashes && c == '/')) {
        encoded.append(c);
      } else {
        encoded.append('%').append(HexFormat.of().withUpperCase().toHexDigits(one));
      }
    }
    return encoded.toString();
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }
}
