package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.codec.http.HttpHead.Field;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keeps responses in a form in which they can be searched for secrets: whole and not encoded. A
 * request may not ask for another form, and a response in another form is not passed on.
 */
final class ResponseForm {
  private static final String UNASKED = " although this was not asked for, so that it cannot be";
  private static final String SEARCHED = " searched for secrets";

  /** A header with one of these words in its name can choose the form of the response. */
  private static final Set<String> CHOICES =
      Set.of("charset", "compression", "encode", "encoding", "extensions", "im", "range", "ranges");

  /** Headers with such a word that tell the form of the request itself. */
  private static final Set<String> OF_THE_REQUEST =
      Set.of("content-encoding", "content-range", "transfer-encoding");

  /** Of these families only the headers that choose no form may pass. */
  private static final List<String> FAMILIES = List.of("accept-", "sec-websocket-");

  private static final Set<String> OF_THE_FAMILIES =
      Set.of(
          "accept-language",
          "sec-websocket-key",
          "sec-websocket-protocol",
          "sec-websocket-version");

  private static final Set<String> ENCODINGS =
      Set.of(
          "connect-content-encoding",
          "content-encoding",
          "content-transfer-encoding",
          "grpc-encoding",
          "sec-websocket-extensions");

  private static final Set<String> PLAIN = Set.of("", "7bit", "8bit", "binary", "identity");
  private static final Pattern CHARSET =
      Pattern.compile("(?i);\\s*charset\\s*=\\s*\"?([^\";\\s]*)");

  /** Every character that a secret can consist of. */
  private static final byte[] PRINTABLE = printable();

  private static final int PARTIAL_CONTENT = 206;
  private static final int IM_USED = 226;
  private static final int RANGE_NOT_SATISFIABLE = 416;

  private ResponseForm() {}

  private static byte[] printable() {
    byte[] all = new byte[0x7f - ' '];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) (' ' + i);
    }
    return all;
  }

  /** Returns whether a header of a request leaves the form of the response as it is. */
  static boolean isKeptBy(Field field) {
    String name = field.name().replace('_', '-').toLowerCase(Locale.ROOT);
    if (name.equals("te")) {
      return field.text().equalsIgnoreCase("trailers");
    }
    if (FAMILIES.stream().anyMatch(name::startsWith)) {
      return OF_THE_FAMILIES.contains(name);
    }
    return OF_THE_REQUEST.contains(name)
        || Arrays.stream(name.split("-", -1)).noneMatch(CHOICES::contains);
  }

  /** Returns why the body of a response cannot be searched; empty if it can. */
  static Optional<String> problem(int status, List<Field> fields) {
    boolean partial = status == PARTIAL_CONTENT || status == IM_USED;
    for (Field field : fields) {
      String name = field.name().toLowerCase(Locale.ROOT);
      if (ENCODINGS.contains(name) && !isPlain(field)) {
        return Optional.of("the server compressed its response" + UNASKED + SEARCHED);
      }
      if (name.equals("content-type") && !isReadable(field.text())) {
        return Optional.of("the server used another character set" + UNASKED + SEARCHED);
      }
      partial |= name.equals("content-range") && status != RANGE_NOT_SATISFIABLE;
      partial |=
          name.equals("content-type")
              && field.text().toLowerCase(Locale.ROOT).startsWith("multipart/byteranges");
    }
    return partial
        ? Optional.of("the server sent a part of its response" + UNASKED + SEARCHED)
        : Optional.empty();
  }

  private static boolean isPlain(Field field) {
    return Arrays.stream(field.text().split(",", -1))
        .allMatch(coding -> PLAIN.contains(coding.strip().toLowerCase(Locale.ROOT)));
  }

  /** Returns whether the characters of a secret are the same bytes in this media type. */
  private static boolean isReadable(String mediaType) {
    Matcher charset = CHARSET.matcher(mediaType);
    while (charset.find()) {
      String name = charset.group(1);
      if (!PLAIN.contains(name.toLowerCase(Locale.ROOT)) && !isReadableCharset(name)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isReadableCharset(String name) {
    try {
      return Arrays.equals(
          new String(PRINTABLE, Charset.forName(name)).getBytes(US_ASCII), PRINTABLE);
    } catch (IllegalArgumentException unknown) {
      return false;
    }
  }
}
