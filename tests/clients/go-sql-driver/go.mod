module meseta.test/go-sql-driver

go 1.24

require github.com/go-sql-driver/mysql v1.9.3

require filippo.io/edwards25519 v1.1.0 // indirect
