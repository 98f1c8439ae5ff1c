package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.http.HttpHead;
import dev.isola.codec.http.HttpHead.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Replaces placeholders by secrets in the requests of one connection, and secrets by placeholders
 * in its responses.
 *
 * <p>A response is searched for each value as it is, percent-encoded, escaped as in JSON, and in
 * the credentials of Basic authentication that were sent. A host that returns a value in yet
 * another form, or in parts, discloses it: a secret must be bound to trustworthy hosts only. The
 * sandbox cannot choose such a form: {@link ResponseForm} keeps requests from asking for it
 * whenever a secret is bound to the host (a value that one request stores can be returned by the
 * next).
 */
final class SecretSubstitution {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{secret\\.([^}]*)\\}");
  private static final int MAX_CREDENTIALS = 32;

  private final List<BoundSecret> secrets;

  /** What is replaced in responses, by bytes of the same length. */
  private final List<ByteSwapper.Swap> masks = new CopyOnWriteArrayList<>();

  private final List<ByteSwapper.Swap> bodySwaps = new ArrayList<>();
  private final int fixedMasks;

  /** A request that cannot be sent with a secret. */
  static final class UnusableSecretException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String problem;

    UnusableSecretException(String problem) {
      super(problem);
      this.problem = problem;
    }

    String problem() {
      return problem;
    }
  }

  SecretSubstitution(List<BoundSecret> secrets) {
    this.secrets = List.copyOf(secrets);
    for (BoundSecret secret : this.secrets) {
      byte[] value = secret.value().reveal();
      byte[] shown =
          secret.placeholders().isEmpty() ? new byte[0] : bytes(secret.placeholders().getFirst());
      addMask(value, shown);
      addMask(Bytes.percentEncode(value), shown);
      addMask(lowerCaseEscapes(Bytes.percentEncode(value)), shown);
      addMask(Bytes.jsonEscape(value), shown);
      addMask(Bytes.replace(Bytes.jsonEscape(value), bytes("/"), bytes("\\/")), shown);
      for (String placeholder : secret.placeholders()) {
        if (secret.inBodies()
            && placeholder.length() == value.length
            && value.length <= BoundSecret.MAX_LENGTH_IN_BODIES) {
          bodySwaps.add(new ByteSwapper.Swap(bytes(placeholder), value));
        }
      }
    }
    fixedMasks = masks.size();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static byte[] lowerCaseEscapes(byte[] encoded) {
    byte[] result = encoded.clone();
    for (int i = 0; i < result.length; i++) {
      if (result[i] == '%') {
        result[i + 1] = (byte) Character.toLowerCase(result[i + 1]);
        result[i + 2] = (byte) Character.toLowerCase(result[i + 2]);
        i += 2;
      }
    }
    return result;
  }

  private void addMask(byte[] value, byte[] shown) {
    if (value.length < BoundSecret.MIN_LENGTH
        || value.length > BoundSecret.MAX_LENGTH_IN_BODIES
        || masks.stream().anyMatch(mask -> Arrays.equals(mask.from(), value))) {
      return;
    }
    byte[] fitted = Arrays.copyOf(shown, value.length);
    Arrays.fill(fitted, Math.min(shown.length, value.length), value.length, (byte) '*');
    masks.add(new ByteSwapper.Swap(value, fitted));
  }

  /** Returns whether responses have to be searched for values. */
  boolean masksResponses() {
    return !masks.isEmpty();
  }

  /** Returns the field with secrets instead of placeholders. */
  Field substitute(Field field) throws UnusableSecretException {
    byte[] value = field.value();
    for (BoundSecret secret : secrets) {
      for (String placeholder : secret.placeholders()) {
        byte[] from = bytes(placeholder);
        if (Bytes.indexOf(value, from, 0) >= 0) {
          value = Bytes.replace(value, from, headerValue(secret));
        }
      }
    }
    if (field.is("authorization") || field.is("proxy-authorization")) {
      value = substituteBasic(value);
    }
    return new Field(field.name(), value);
  }

  private static byte[] headerValue(BoundSecret secret) throws UnusableSecretException {
    byte[] value = secret.value().reveal();
    if (!HttpHead.isFieldValue(value)) {
      throw new UnusableSecretException(
          "secret '%s' contains a line break and cannot be sent in a header"
              .formatted(secret.name()));
    }
    return value;
  }

  /** Replaces placeholders in the credentials of Basic authentication, which are encoded. */
  private byte[] substituteBasic(byte[] value) throws UnusableSecretException {
    String text = new String(value, ISO_8859_1);
    if (!text.regionMatches(true, 0, "Basic ", 0, 6)) {
      return value;
    }
    byte[] original = bytes(text.substring(6).strip());
    byte[] credentials;
    try {
      credentials = Base64.getDecoder().decode(original);
    } catch (IllegalArgumentException notEncoded) {
      return value;
    }
    byte[] changed = credentials;
    for (BoundSecret secret : secrets) {
      for (String placeholder : secret.placeholders()) {
        byte[] from = bytes(placeholder);
        if (Bytes.indexOf(changed, from, 0) >= 0) {
          changed = Bytes.replace(changed, from, secret.value().reveal());
        }
      }
    }
    if (Arrays.equals(changed, credentials)) {
      return value;
    }
    byte[] encoded = Base64.getEncoder().encode(changed);
    if (masks.stream().noneMatch(mask -> Arrays.equals(mask.from(), encoded))) {
      if (masks.size() - fixedMasks >= MAX_CREDENTIALS) {
        throw new UnusableSecretException(
            "more than %d different credentials were sent on one connection"
                .formatted(MAX_CREDENTIALS));
      }
      addMask(encoded, original);
    }
    byte[] result = Arrays.copyOf(bytes("Basic "), 6 + encoded.length);
    System.arraycopy(encoded, 0, result, 6, encoded.length);
    return result;
  }

  /** Returns the target of a request with secrets, percent-encoded, instead of placeholders. */
  byte[] substituteTarget(String target) {
    byte[] result = bytes(target);
    for (BoundSecret secret : secrets) {
      for (String placeholder : secret.placeholders()) {
        byte[] from = bytes(placeholder);
        if (Bytes.indexOf(result, from, 0) >= 0) {
          result = Bytes.replace(result, from, Bytes.percentEncode(secret.value().reveal()));
        }
      }
    }
    return result;
  }

  /** Returns a header of a rule with its references to secrets resolved. */
  Field resolve(String name, String template) throws UnusableSecretException {
    byte[] value = template.getBytes(ISO_8859_1);
    Matcher reference = REFERENCE.matcher(template);
    while (reference.find()) {
      String wanted = reference.group(1);
      BoundSecret secret =
          secrets.stream()
              .filter(one -> one.name().equals(wanted))
              .findFirst()
              .orElseThrow(
                  () ->
                      new UnusableSecretException(
                          "header '%s' of a rule refers to secret '%s', which is not bound to this host"
                              .formatted(name, wanted)));
      value = Bytes.replace(value, bytes(reference.group()), headerValue(secret));
    }
    return new Field(name, value);
  }

  /** Returns a swapper for the body of a request. */
  ByteSwapper requestBody(boolean encoded) {
    return new ByteSwapper(encoded ? List.of() : bodySwaps, false);
  }

  /** Returns a swapper for the body of a response. */
  ByteSwapper responseBody() {
    return new ByteSwapper(masks, true);
  }

  /** Returns the bytes with placeholders instead of secrets. */
  byte[] mask(byte[] value) {
    ByteSwapper swapper = responseBody();
    byte[] first = swapper.next(value, 0, value.length);
    byte[] rest = swapper.end(BoundSecret.MOST_DISCLOSED);
    byte[] all = Arrays.copyOf(first, first.length + rest.length);
    System.arraycopy(rest, 0, all, first.length, rest.length);
    return all;
  }

  /** Masks the values of fields, and leaves out fields with a secret in their name. */
  List<Field> mask(List<Field> fields) {
    return masks.isEmpty()
        ? fields
        : fields.stream()
            .filter(field -> !isNamedBySecret(field))
            .map(field -> new Field(field.name(), mask(field.value())))
            .toList();
  }

  private boolean isNamedBySecret(Field field) {
    byte[] name = Bytes.lowerCase(bytes(field.name()));
    return masks.stream()
        .anyMatch(mask -> Bytes.indexOf(name, Bytes.lowerCase(mask.from()), 0) >= 0);
  }
}
