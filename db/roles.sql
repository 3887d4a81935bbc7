-- Roles for daily work with a store in PostgreSQL: `infimum db roles` runs this as the store's owner. It may be run
-- again, and should be after a migration that made tables by hand. Give them to users: GRANT infimum_writer TO alice.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'infimum_reader') THEN
    CREATE ROLE infimum_reader;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'infimum_writer') THEN
    CREATE ROLE infimum_writer;
  END IF;
END
$$;
GRANT USAGE ON SCHEMA infimum TO infimum_reader, infimum_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA infimum TO infimum_reader, infimum_writer;
GRANT INSERT ON ALL TABLES IN SCHEMA infimum TO infimum_writer;
REVOKE INSERT ON infimum.schema_versions FROM infimum_writer;
-- What later versions of the schema add, too.
ALTER DEFAULT PRIVILEGES IN SCHEMA infimum GRANT SELECT ON TABLES TO infimum_reader, infimum_writer;
ALTER DEFAULT PRIVILEGES IN SCHEMA infimum GRANT INSERT ON TABLES TO infimum_writer;
