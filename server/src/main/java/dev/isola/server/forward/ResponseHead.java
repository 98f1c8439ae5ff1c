package dev.isola.server.forward;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The head of a response, which is untrusted if a sandbox sent it. Ambiguous heads are rejected,
 * because a proxy or browser might interpret them differently.
 */
public record ResponseHead(int status, List<Header> headers) {
  static final int MAX_HEAD = 64 * 1024;

  private static final int MAX_HEADERS = 200;
  private static final int MAX_INTERIM = 10;
  private static final int SWITCHING = 101;
  private static final Pattern STATUS =
      Pattern.compile("HTTP/1\\.[01] ([1-5][0-9]{2})( [^\\x00]*)?");
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
  private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");

  /** How the end of a body is determined. */
  public sealed interface Framing {
    record None() implements Framing {}

    record FixedLength(long bytes) implements Framing {}

    record Chunked() implements Framing {}

    record UntilClose() implements Framing {}
  }

  public ResponseHead {
    headers = List.copyOf(headers);
  }

  /** Reads a response head, skipping interim responses. */
  public static ResponseHead read(ConnectionReader in) throws IOException {
    for (int i = 0; i <= MAX_INTERIM; i++) {
      ResponseHead head = readAny(in);
      if (head.status >= 200 || head.status == SWITCHING) {
        return head;
      }
    }
    throw new MalformedResponse("too many interim responses");
  }

  /** Reads a response head, which may be that of an interim response. */
  public static ResponseHead readAny(ConnectionReader in) throws IOException {
    int left = MAX_HEAD;
    String first = in.line(left);
    Matcher status = STATUS.matcher(first);
    if (!status.matches()) {
      throw new MalformedResponse("the status line is not HTTP/1.1");
    }
    left -= first.length();
    List<Header> headers = new ArrayList<>();
    for (String line = in.line(left); !line.isEmpty(); line = in.line(left)) {
      left = Math.max(0, left - line.length() - 2);
      headers.add(header(line));
      if (headers.size() > MAX_HEADERS) {
        throw new MalformedResponse("more than " + MAX_HEADERS + " headers");
      }
    }
    return new ResponseHead(Integer.parseInt(status.group(1)), headers);
  }

  private static Header header(String line) throws MalformedResponse {
    int colon = line.indexOf(':');
    if (colon < 1 || !NAME.matcher(line.substring(0, colon)).matches()) {
      throw new MalformedResponse("a header has an invalid name");
    }
    String value = line.substring(colon + 1).strip();
    if (value.chars().anyMatch(c -> (c < ' ' && c != '\t') || c == 0x7f)) {
      throw new MalformedResponse("a header contains control characters");
    }
    return new Header(line.substring(0, colon), value);
  }

  public boolean isSwitchingProtocols() {
    return status == SWITCHING;
  }

  /**
   * Returns the framing of the body.
   *
   * @param method the method of the request
   */
  public Framing framing(String method) throws MalformedResponse {
    List<String> encodings = Header.values(headers, "Transfer-Encoding");
    List<String> lengths = Header.values(headers, "Content-Length").stream().distinct().toList();
    if (!encodings.isEmpty()
        && (encodings.size() > 1
            || !encodings.getFirst().equalsIgnoreCase("chunked")
            || !lengths.isEmpty())) {
      throw new MalformedResponse(
          "the body length is ambiguous, or the transfer encoding is not supported");
    }
    Optional<String> length = lengths.stream().findFirst();
    if (lengths.size() > 1 || length.filter(one -> !LENGTH.matcher(one).matches()).isPresent()) {
      throw new MalformedResponse("the Content-Length is not a single number");
    }
    if (method.equals("HEAD") || status == 204 || status == 304) {
      return new Framing.None();
    }
    if (!encodings.isEmpty()) {
      return new Framing.Chunked();
    }
    return length
        .<Framing>map(one -> new Framing.FixedLength(Long.parseLong(one)))
        .orElse(new Framing.UntilClose());
  }
}
