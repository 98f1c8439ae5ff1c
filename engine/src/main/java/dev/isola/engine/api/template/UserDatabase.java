package dev.isola.engine.api.template;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The users and groups of an image: the content of {@code /etc/passwd} and {@code /etc/group}. Both
 * are untrusted; lines that the guest agent would skip are kept and have no meaning.
 */
record UserDatabase(String passwd, String group) {
  /** The groups whose members the guest agent allows to use {@code sudo}. */
  private static final List<String> SUDO_GROUPS = List.of("sudo", "wheel");

  private static final int PASSWD_FIELDS = 7;
  private static final int GROUP_FIELDS = 4;
  private static final long SUDO_ID = 27;
  private static final long FIRST_SYSTEM_ID = 100;
  private static final long FIRST_USER_ID = 1000;
  private static final String ROOT = "root";

  /** Returns whether there is a user of that name. */
  boolean contains(String user) {
    return lines(passwd).anyMatch(line -> isUser(line.split(":", -1), user));
  }

  private static boolean isUser(String[] fields, String user) {
    return fields.length >= PASSWD_FIELDS
        && fields[0].equals(user)
        && id(fields[2]).isPresent()
        && id(fields[3]).isPresent();
  }

  /** Returns the user id and group id of a user, as {@code UID:GID}. */
  Optional<String> ids(String user) {
    return lines(passwd)
        .map(line -> line.split(":", -1))
        .filter(fields -> isUser(fields, user))
        .map(fields -> fields[2] + ":" + fields[3])
        .findFirst();
  }

  /**
   * Returns this database with a new user that may use {@code sudo}, with id 1000 if it is free and
   * otherwise the next free one, and with {@code root} if it is missing.
   */
  UserDatabase with(String user, String home, String shell) {
    UserDatabase all = contains(ROOT) ? this : withRoot(shell);
    Optional<Long> ownGroup = all.groupId(user);
    Set<Long> taken = new HashSet<>(all.userIds());
    if (ownGroup.isEmpty()) {
      taken.addAll(all.groupIds());
    }
    long uid = free(FIRST_USER_ID, taken);
    long gid = ownGroup.orElse(uid);
    String line = user + ":x:" + uid + ":" + gid + ":" + user + ":" + home + ":" + shell;
    String groups =
        ownGroup.isPresent() ? all.group : appended(all.group, user + ":x:" + gid + ":");
    return new UserDatabase(appended(all.passwd, line), withSudo(groups, user));
  }

  private UserDatabase withRoot(String shell) {
    return new UserDatabase(
        appended(passwd, "root:x:0:0:root:/root:" + shell),
        groupId(ROOT).isPresent() ? group : appended(group, "root:x:0:"));
  }

  /** Adds a user to the first group that may use sudo; adds the group if there is none. */
  private static String withSudo(String groups, String user) {
    Optional<String> existing =
        SUDO_GROUPS.stream()
            .filter(name -> new UserDatabase("", groups).groupId(name).isPresent())
            .findFirst();
    if (existing.isEmpty()) {
      Set<Long> taken = new UserDatabase("", groups).groupIds();
      long gid = taken.contains(SUDO_ID) ? free(FIRST_SYSTEM_ID, taken) : SUDO_ID;
      return appended(groups, SUDO_GROUPS.getFirst() + ":x:" + gid + ":" + user);
    }
    return mapped(groups, line -> isGroup(line, existing.get()) ? withMember(line, user) : line);
  }

  private static String withMember(String line, String user) {
    String[] fields = line.split(":", -1);
    String members = fields[GROUP_FIELDS - 1];
    if (List.of(members.split(",", -1)).contains(user)) {
      return line;
    }
    fields[GROUP_FIELDS - 1] = members.isEmpty() ? user : members + "," + user;
    return String.join(":", fields);
  }

  private static boolean isGroup(String line, String name) {
    String[] fields = line.split(":", -1);
    return fields.length >= GROUP_FIELDS && fields[0].equals(name) && id(fields[2]).isPresent();
  }

  private Optional<Long> groupId(String name) {
    return lines(group)
        .filter(line -> isGroup(line, name))
        .flatMap(line -> id(line.split(":", -1)[2]).stream())
        .findFirst();
  }

  private Set<Long> userIds() {
    return ids(passwd, 2);
  }

  private Set<Long> groupIds() {
    Set<Long> ids = ids(group, 2);
    ids.addAll(ids(passwd, 3));
    return ids;
  }

  private static Set<Long> ids(String table, int field) {
    Set<Long> ids = new HashSet<>();
    lines(table)
        .map(line -> line.split(":", -1))
        .filter(fields -> fields.length > field)
        .forEach(fields -> id(fields[field]).ifPresent(ids::add));
    return ids;
  }

  private static Optional<Long> id(String text) {
    return text.matches("[0-9]{1,9}") ? Optional.of(Long.valueOf(text)) : Optional.empty();
  }

  private static long free(long first, Set<Long> taken) {
    long id = first;
    while (taken.contains(id)) {
      id++;
    }
    return id;
  }

  /** Appends a line, also if the last line has no end. */
  private static String appended(String table, String line) {
    return (table.isEmpty() || table.endsWith("\n") ? table : table + "\n") + line + "\n";
  }

  private static Stream<String> lines(String table) {
    return Stream.of(table.split("\n", -1));
  }

  private static String mapped(String table, UnaryOperator<String> change) {
    List<String> lines = new ArrayList<>();
    lines(table).map(change).forEach(lines::add);
    return String.join("\n", lines);
  }
}
