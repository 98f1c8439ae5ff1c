package dev.isola.app.operate;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Result of one check of {@code doctor}.
 *
 * @param good false if a provider lacks what was checked
 * @param fix what the operator can do; empty if nothing. If {@code good} is true, it is a warning
 *     about something that Isola cannot verify
 */
public record DoctorCheck(String name, boolean good, String value, String fix) {
  public static DoctorCheck good(String name, String value) {
    return new DoctorCheck(name, true, value, "");
  }

  public static DoctorCheck warning(String name, String value, String check) {
    return new DoctorCheck(name, true, value, check);
  }

  public static DoctorCheck bad(String name, String value, String fix) {
    return new DoctorCheck(name, false, value, fix);
  }

  boolean warns() {
    return good && !fix.isEmpty();
  }

  Map<String, ?> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("good", good);
    json.put("warning", warns());
    json.put("value", value);
    json.put("fix", fix);
    return json;
  }
}
