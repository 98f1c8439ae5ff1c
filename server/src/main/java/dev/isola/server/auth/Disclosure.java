package dev.isola.server.auth;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides which {@link Confidential} values a response contains. Every JSON response passes through
 * here, so that no route can bypass it.
 */
public final class Disclosure {
  private final Optional<ApiKey> key;
  private boolean token;

  /**
   * @param key the authenticated key; empty on a route that requires none
   */
  public Disclosure(Optional<ApiKey> key) {
    this.key = key;
  }

  /** Returns the response as the key may see it. */
  public Object of(Object answer) {
    return switch (answer) {
      case Map<?, ?> map -> of(map);
      case List<?> list -> of(list);
      case Confidential value -> allows(value) ? disclose(value) : Confidential.MASK;
      default -> answer;
    };
  }

  private Map<Object, Object> of(Map<?, ?> map) {
    Map<Object, Object> seen = new LinkedHashMap<>();
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      Object value = entry.getValue();
      if (value == null) {
        seen.put(entry.getKey(), null);
      } else if (!isLeftOut(value)) {
        seen.put(entry.getKey(), of(value));
      }
    }
    return seen;
  }

  private List<Object> of(List<?> list) {
    List<Object> seen = new ArrayList<>(list.size());
    for (Object value : list) {
      if (!isLeftOut(value)) {
        seen.add(of(value));
      }
    }
    return seen;
  }

  private boolean isLeftOut(Object value) {
    return value instanceof Confidential secret
        && secret.kind() == Confidential.Kind.TOKEN
        && !allows(secret);
  }

  private boolean allows(Confidential value) {
    return key.filter(one -> one.scope().allows(value.needed())).isPresent();
  }

  private Object disclose(Confidential value) {
    token |= value.kind() == Confidential.Kind.TOKEN;
    return value.value();
  }

  /** Returns whether a token was disclosed. */
  public boolean hasToken() {
    return token;
  }
}
